"""Tests passages: a message that left, beside the events of each other manager."""

from __future__ import annotations

import pytest

from reliquary.spark.pipelines.audit.arrays import NEVER, NONE, Table
from reliquary.spark.pipelines.audit.passages import COLUMNS, NEEDED, arrivals, passages
from reliquary.spark.pipelines.audit.traces import STORED
from tests.spark.pipelines.audit.test_traces import traced
from tests.spark.pipelines.audit.world import BEGIN, Row, World


class NamedWorld(World):
    """One message from alpha, with the events that the test gives it."""

    def __init__(self) -> None:
        super().__init__(1, messages=0)
        for manager in self.managers:
            manager.events.clear()
        self.alpha, self.beta, self.gamma = self.managers
        self.queue, self.subject, _ = self._queued(self.alpha, self.beta, BEGIN, "plain")
        self.identified: Row = {"message_id": self.subject["message_id"]}

    def passages(self) -> list[dict[str, int]]:
        return passages(traced(self.rows()).only(NEEDED)).rows()


def test_a_message_without_further_records_has_a_passage_to_nowhere() -> None:
    (passage,) = NamedWorld().passages()
    assert set(passage) == set(COLUMNS)
    assert (passage["seen"], passage["arrivals"]) == (0, 0)
    assert (passage["other_manager"], passage["other_time"]) == (NONE, NEVER)


def test_an_arrival_stands_beside_its_departure() -> None:
    world = NamedWorld()
    world.beta.tell(BEGIN + 9, "arrived", "inbox", 1, protocol="srmp", **world.identified)
    (passage,) = world.passages()
    assert (passage["arrivals"], passage["other_time"]) == (1, BEGIN + 9)


def test_each_manager_that_tells_of_it_makes_a_passage() -> None:
    world = NamedWorld()
    world.beta.tell(BEGIN + 9, "arrived", "inbox", 1, protocol="srmp", **world.identified)
    world.gamma.tell(BEGIN + 9, "refused", "inbox", 0, **world.identified)
    assert sorted(passage["arrivals"] for passage in world.passages()) == [0, 1]


@pytest.mark.parametrize(("kind", "found"), [("local", 1), ("outgoing", 0)])
def test_a_message_may_come_back_to_the_manager_that_sent_it(kind: str, found: int) -> None:
    world = NamedWorld()
    world.alpha.tell(BEGIN + 9, "arrived", "inbox", 77, kind=kind, protocol="loopback", **world.identified)
    there = [passage for passage in world.passages() if passage["message"] == world.subject["message"]]
    assert sum(passage["arrivals"] for passage in there) == found


def test_arrivals_are_counted_by_queue() -> None:
    world = NamedWorld()
    for number, queue in enumerate(("inbox", "inbox", "other"), 1):
        world.beta.tell(BEGIN + number, "arrived", queue, number, protocol="srmp", **world.identified)
    counted: Table = arrivals(traced(world.rows()).only(NEEDED))
    assert sorted(counted["arrivals"].tolist()) == [1, 2]
    assert set(NEEDED) <= set(STORED)

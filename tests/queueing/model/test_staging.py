"""The tables of staged parts agree, in whichever order parts are added and removed."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from reliquary.queueing.model.staging import Staging
from reliquary.queueing.model.tables import Published, Stage


@pytest.mark.parametrize("seed", range(50))
def test_what_follows_from_the_parts_does_not_depend_on_their_past(seed: int) -> None:
    chance, staging = Random(seed), Staging()
    for number in range(1, 40):
        stage = Stage(
            chance.choice("pq"), chance.randrange(2), chance.randrange(3), chance.choice("ab"), 0,
            messages=chance.randrange(9), size=chance.randrange(99),
        )  # fmt: skip
        earlier = staging.places.get((stage.query, stage.batch, stage.part, stage.attempt))
        if earlier is not None:
            staging.put(earlier, msgspec.structs.replace(staging.stages[earlier], dropped=True))
        staging.put(number, stage)
        gone = chance.choice(list(staging.stages))
        if chance.random() < 0.5:
            staging.remove(gone)
    again = Staging()
    for number, stage in staging.stages.items():
        again.put(number, stage)
    assert again == staging
    for query in "pq":
        expected = [n for n, each in staging.stages.items() if each.query == query and not each.dropped]
        assert staging.settled(query, 1) == sorted(expected)
        assert staging.settled(query, -1) == []


def test_the_longest_of_several_attempts_at_one_part_counts() -> None:
    staging = Staging()
    for number, (part, messages) in enumerate(((0, 5), (0, 7), (1, 2)), start=1):
        staging.put(number, Stage("q", 0, part, str(number), 0, messages=messages))
    assert [staging.messages_with(each, 3) for each in (1, 2, 3)] == [10, 12, 12]
    assert staging.messages_with(1, 1) == 9


def test_queues_are_awaited_while_a_part_may_still_be_published() -> None:
    staging, stage = Staging(), Stage("q", 0, 0, "a", 0, queues={7: "orders"})
    staging.put(1, stage)
    assert staging.awaited() == {7}
    staging.put(1, msgspec.structs.replace(stage, dropped=True))
    assert staging.awaited() == set()
    assert staging.find(1) is None


def test_the_ledger_has_the_longest_unused_query_first() -> None:
    staging = Staging()
    for query in ("a", "b", "a"):
        staging.publish(query, Published(1, f"writer of {query}", 0, 0))
    assert list(staging.ledger) == ["b", "a"]
    assert staging.names_of("a") == ["writer of a"]

"""Tests of start and stop: [MS-MQDMPR] 3.1.3, 3.1.4.1 and 3.1.4.2."""

from __future__ import annotations

import pytest

from reliquary.base.time import in_whole_seconds
from reliquary.queueing.model.events import StartManager
from reliquary.queueing.model.facts import ManagerNamed, QueueCreated
from reliquary.queueing.model.message import FOREVER, Delivery
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES
from reliquary.queueing.model.queue import ManagerState, QueueType
from tests.queueing.manager_harness import COMPUTER, DOMAIN_NAME, NOON, Bench


@pytest.mark.spec("DM-015", "DM-099", "DM-100")
def test_the_manager_is_stopped_until_it_is_started() -> None:
    bench = Bench(start=False)
    seen = [bench.state.manager.state]
    for step in (bench.start, bench.stop):
        step()
        seen.append(bench.state.manager.state)
    assert seen == [ManagerState.STOPPED, ManagerState.READY, ManagerState.STOPPED]


@pytest.mark.spec("DM-006", "DM-010", "DM-011", "DM-017", "DM-084")
def test_the_first_start_names_the_manager() -> None:
    bench = Bench()
    record = bench.state.identity()
    assert (record.computer_name, record.qualified_computer_name) == (COMPUTER, DOMAIN_NAME)
    assert record.create_time == record.modify_time == in_whole_seconds(NOON)
    assert record.quota == 0x00100000
    assert record.journal_quota == FOREVER
    assert record.initialization_retry_seconds == 120


@pytest.mark.spec("DM-002", "DM-005", "DM-017")
def test_the_manager_is_unchanged_after_a_restart() -> None:
    bench = Bench()
    record = bench.state.identity()
    bench.restart(start=False)
    bench.handle(StartManager("ANOTHER", "another.example"))
    assert bench.state.identity() == record


def test_a_quota_can_be_changed_at_a_start() -> None:
    bench = Bench()
    bench.quota = 7
    bench.restart()
    assert bench.state.identity().quota == 7
    bench.quota = None
    bench.restart()
    assert bench.state.identity().quota == 7


@pytest.mark.spec("DM-093", "DM-094", "DM-027")
def test_the_managers_own_queues_are_made_once() -> None:
    """System queues of an earlier start are kept with their messages (AN-49)."""
    bench = Bench()
    names = [f"system$;{name}" for name in SYSTEM_QUEUES]
    numbers = [bench.queue(name).number for name in names]
    assert len(names) == len(set(numbers)) == 5
    assert all(bench.queue(name).record.kind is QueueType.SYSTEM for name in names)
    bench.send("orders", b"m1", positive_journaling=True)
    created = sum(isinstance(fact, QueueCreated) for fact in bench.facts)
    bench.restart()
    assert [bench.queue(name).number for name in names] == numbers
    assert sum(isinstance(fact, QueueCreated) for fact in bench.facts) == created
    assert bench.bodies("system$;journal") == [b"m1"]


def test_a_second_start_of_a_manager_says_nothing_new() -> None:
    bench = Bench()
    reported = len(bench.facts)
    bench.restart()
    assert bench.facts[reported:] == []
    assert sum(isinstance(fact, ManagerNamed) for fact in bench.facts) == 1


@pytest.mark.spec("DM-018", "DM-190")
@pytest.mark.parametrize("crash", [True, False])
def test_no_number_is_given_out_twice(crash: bool) -> None:
    bench = Bench()
    seen: list[int] = []
    for _ in range(3):
        for _ in range(5):
            seen += bench.send("orders", b"m").lookup_ids
            bench.flush()
        seen += bench.send("orders", b"lost in a crash").lookup_ids
        bench.restart(crash=crash)
    seen += bench.send("orders", b"m").lookup_ids
    assert len(set(seen)) == len(seen)
    assert seen == sorted(seen)


@pytest.mark.spec("DM-018", "DM-046")
def test_a_number_that_was_reported_before_the_disk_knew_is_not_given_out_again() -> None:
    """The answer to an express message waits for nothing."""
    bench = Bench()
    for _ in range(3):
        bench.flush()
        reported = bench.send("orders", b"express", delivery=Delivery.EXPRESS).lookup_ids
        bench.restart(crash=True)
        bench.flush()
        (later,) = bench.send("orders", b"m").lookup_ids
        assert later > reported[0]


@pytest.mark.spec("DM-018")
def test_an_orderly_stop_gives_back_the_numbers_that_were_reserved() -> None:
    bench = Bench()
    (last,) = bench.send("orders", b"m").lookup_ids
    bench.flush()
    bench.stop()
    bench.restart()
    assert bench.send("orders", b"m").lookup_ids == (last + 1,)

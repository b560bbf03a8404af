"""What the manager knows: names, readers that are woken, and the timer for deadlines."""

from __future__ import annotations

import pytest

from reliquary.base.time import Duration, Instant, later, seconds
from reliquary.base.turn import SetTimer
from reliquary.queueing.model.facts import PositionAvailable
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES
from reliquary.queueing.model.queue import ManagerState, QueueType
from reliquary.queueing.model.state import LONGEST_TIMER
from tests.queueing.manager_harness import COMPUTER, DOMAIN_NAME, Bench

# -- names


@pytest.mark.spec("DM-006")
@pytest.mark.parametrize(
    "name",
    [
        "orders",
        "ORDERS",
        ".\\private$\\Orders",
        f"{COMPUTER}\\private$\\orders",
        f"{COMPUTER.lower()}\\PRIVATE$\\orders",
        f"{DOMAIN_NAME}\\private$\\orders",
    ],
)
def test_a_queue_is_found_under_every_form_of_its_name(name: str) -> None:
    bench = Bench("Orders")
    assert bench.state.find(bench.state.parse(name)) is bench.queue("Orders")


def test_a_private_and_a_public_queue_of_one_name_are_two() -> None:
    bench = Bench("orders", ".\\orders")
    private, public = bench.queue("orders"), bench.queue(".\\orders")
    assert private is not public
    assert (private.record.kind, public.record.kind) == (QueueType.PRIVATE, QueueType.PUBLIC)


@pytest.mark.spec("DM-137")
def test_a_journal_and_a_subqueue_are_found_by_their_queue() -> None:
    bench = Bench("orders", "orders;retry")
    orders = bench.queue("orders")
    assert bench.queue("orders;journal").number == orders.record.journal
    assert orders.subqueues == {bench.queue("orders;retry").number}
    assert bench.queue("orders;retry").record.journal is None


def test_the_journal_of_nothing_is_nothing() -> None:
    bench = Bench("orders", "orders;retry")
    assert bench.state.find(bench.state.parse("other;journal")) is None
    assert bench.state.find(bench.state.parse("other")) is None


@pytest.mark.spec("DM-093", "DM-094")
@pytest.mark.parametrize("name", SYSTEM_QUEUES)
def test_the_managers_own_queues_are_there(name: str) -> None:
    queue = Bench().state.system_queue(name)
    assert queue.record.kind is QueueType.SYSTEM
    assert queue.record.journal is None


def test_without_a_name_there_is_no_manager() -> None:
    bench = Bench(start=False)
    with pytest.raises(AssertionError, match="before it started"):
        bench.state.identity()


@pytest.mark.spec("DM-015")
def test_the_manager_is_stopped_then_ready_then_stopped() -> None:
    bench = Bench(start=False)
    seen = [bench.state.manager.state]
    bench.start()
    seen.append(bench.state.manager.state)
    bench.stop()
    seen.append(bench.state.manager.state)
    assert seen == [ManagerState.STOPPED, ManagerState.READY, ManagerState.STOPPED]


# -- availability and time


@pytest.mark.parametrize("heard", [True, False])
def test_what_becomes_available_is_reported_to_those_who_listen(heard: bool) -> None:
    bench = Bench(subscribed=[PositionAvailable] if heard else [])
    sent = bench.send("orders", b"a", b"b")
    reported = [PositionAvailable(bench.queue().number, each) for each in sent.lookup_ids]
    assert bench.signals == (reported if heard else [])


NOW = Instant(1_000_000_000)


@pytest.mark.parametrize(
    ("deadlines", "timers"),
    [
        pytest.param([20], [20], id="one"),
        pytest.param([20, 30], [20], id="a later one changes nothing"),
        pytest.param([20, 20], [20], id="a repeated value changes nothing"),
        pytest.param([20, 10], [20, 10], id="an earlier one sets it again"),
        pytest.param([-5], [0], id="one that has passed fires at once"),
        pytest.param([1_000_000], [60], id="a far one is looked at after a minute"),
    ],
)
def test_the_clock_is_watched_for_the_earliest_deadline(deadlines: list[int], timers: list[int]) -> None:
    state = Bench().state
    for deadline in deadlines:
        state.watch_clock(later(NOW, seconds(deadline)), NOW)
    expected = tuple(SetTimer(("expiry", 0), seconds(timer), calendar=True) for timer in timers)
    assert state.draft.take().effects == expected


def test_no_timer_is_longer_than_a_minute() -> None:
    assert Duration(60_000_000) == LONGEST_TIMER

"""What the manager knows: numbers, names, and who is woken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import Duration, Instant, later, seconds
from reliquary.base.turn import SetTimer
from reliquary.queueing.model import events
from reliquary.queueing.model.events import ReceiveMessages, SendMessages
from reliquary.queueing.model.facts import PositionAvailable
from reliquary.queueing.model.message import Delivery, Message
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES
from reliquary.queueing.model.parts.access import Verdicts
from reliquary.queueing.model.queue import ManagerState, QueueType
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import LONGEST_TIMER, Sizes
from reliquary.queueing.model.tables import ONLY, SEQUENCE
from tests.queueing.manager_harness import COMPUTER, DOMAIN_NAME, Bench

# -- numbers


@pytest.mark.spec("DM-018", "DM-190")
@given(st.integers(2, 50), st.integers(1, 200))
def test_the_sequence_grows_by_one_and_its_ceiling_is_on_disk_before_it_is_reached(
    block: int, count: int
) -> None:
    bench = Bench(sizes=Sizes(sequence_block=block))
    state = bench.state
    for number in range(state.numbers.sequence + 1, state.numbers.sequence + count + 1):
        assert state.numbers.next_sequence() == number
        assert state.numbers.ceiling >= number
        bench.manager.settle()
        reserved = state.rows.get(SEQUENCE, ONLY)
        assert reserved is not None
        assert reserved.ceiling >= number


@pytest.mark.spec("DM-018", "DM-190")
@given(st.integers(2, 50), st.lists(st.integers(1, 120), max_size=5))
def test_many_numbers_are_taken_at_once_as_one_after_the_other(block: int, counts: list[int]) -> None:
    state = Bench(sizes=Sizes(sequence_block=block)).state
    for count in counts:
        last = state.numbers.sequence
        assert list(state.numbers.next_sequences(count)) == list(range(last + 1, last + count + 1))
        assert state.numbers.sequence == last + count <= state.numbers.ceiling
        assert state.numbers.ceiling >= state.numbers.sequence + block // 2


def test_numbers_are_reserved_once_in_half_a_block_and_not_each_time() -> None:
    bench = Bench(sizes=Sizes(sequence_block=100))
    writes = 0
    for _ in range(1000):
        bench.state.numbers.next_sequence()
        writes += bench.state.numbers.dirty
        bench.state.numbers.dirty = False
    assert writes <= 1000 // 50 + 1


@pytest.mark.spec("DM-066", "DM-069")
def test_no_handle_cursor_or_receipt_has_the_number_of_another() -> None:
    bench = Bench()
    bench.send("orders", *[b"x"] * 5)
    handles = [bench.ask(events.OpenQueue(0, "orders", events.Access.RECEIVE)).handle for _ in range(5)]
    cursors = [bench.ask(events.OpenCursor(0, handle)).handle for handle in handles]
    receipts = [bench.receive("orders", hold=10).receipt for _ in range(5)]
    assert len({*handles, *cursors, *receipts}) == 15


@pytest.mark.spec("DM-141")
def test_no_queue_has_the_number_of_another() -> None:
    bench = Bench(*[f"queue {number}" for number in range(20)])
    bench.ask(events.DeleteQueue(0, "queue 19"))
    made = bench.create("one more").queue
    assert made.number not in {number for number in bench.state.queues if number != made.number}
    assert bench.state.queues[made.number].record == made


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


# -- bytes and handles


@pytest.mark.spec("DM-286", "DM-288")
def test_total_bytes_are_those_of_all_that_is_there_express_or_not() -> None:
    bench = Bench()
    bench.send("orders", b"12345")
    one = bench.queue().total_bytes
    bench.send("orders", b"12345", delivery=Delivery.EXPRESS)
    assert bench.queue().total_bytes == 2 * one == bench.state.totals.bytes
    bench.receive("orders", count=2)
    assert bench.queue().total_bytes == bench.state.totals.bytes == 0


@pytest.mark.spec("DM-026")
def test_a_queue_is_active_while_somebody_has_it_open() -> None:
    bench = Bench()
    assert not bench.queue().active
    handle = bench.ask(events.OpenQueue(0, "orders", events.Access.PEEK)).handle
    assert bench.queue().active
    bench.ask(events.CloseQueue(0, handle))
    assert not bench.queue().active


# -- availability and time


@pytest.mark.parametrize("heard", [True, False])
def test_what_becomes_available_is_told_to_those_who_listen(heard: bool) -> None:
    bench = Bench(heard=[PositionAvailable] if heard else [])
    sent = bench.send("orders", b"a", b"b")
    told = [PositionAvailable(bench.queue().number, each) for each in sent.lookup_ids]
    assert bench.signals == (told if heard else [])


NOW = Instant(1_000_000_000)


@pytest.mark.parametrize(
    ("deadlines", "timers"),
    [
        pytest.param([20], [20], id="one"),
        pytest.param([20, 30], [20], id="a later one changes nothing"),
        pytest.param([20, 20], [20], id="the same again changes nothing"),
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


def test_verdicts_do_not_grow_without_end() -> None:
    verdicts = Verdicts()
    for number in range(Verdicts.LIMIT + 1):
        verdicts.add((number, MANAGER, 0))
    assert verdicts == {(Verdicts.LIMIT, MANAGER, 0)}


# -- what a read will return


def test_the_size_of_a_read_is_foreseen_from_what_is_available() -> None:
    bench = Bench()
    queue = bench.state.queues[bench.state.names.by_path["private$\\orders"]]
    assert queue.expected_bytes(5, 1000) == 0
    large, small = bench.ask(SendMessages(0, "orders", (Message(body=b"x" * 9000), Message()))).lookup_ids
    first, last = (queue.order.size_at(each) for each in (large, small))
    assert (first, queue.order.size_at(99), queue.order.size_at()) == (last + 9000, 0, first)
    assert queue.expected_bytes(1, 100_000) == first
    assert queue.expected_bytes(2, 100_000) == first + last
    assert queue.expected_bytes(2, 1000) == first  # one message comes whatever its size
    assert queue.expected_bytes(1, 1000, small) == 1000
    bench.ask(ReceiveMessages(0, "orders", 2, hold=seconds(9)))
    assert queue.expected_bytes(2, 100_000) == 0  # a read waits, and returns nothing now

"""Tests receive, peek, browse, and the two halves of a two-phase read: [MS-MQDMPR] 3.1.7.1.10 to .15."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.base.turn import Event
from reliquary.queueing.model.events import (
    AbortTransaction,
    Access,
    BrowseMessages,
    CloseQueue,
    DeleteQueue,
    EndRead,
    OpenQueue,
    PeekMessage,
    PurgeQueue,
    ReceiveMessages,
)
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import Delivery, MessageClass
from reliquary.queueing.rules import read
from tests.queueing.answers import bodies, body, everything, sleep_through
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, walk


def reasons(bench: Bench) -> list[MessageClass]:
    """Return the reasons why messages left their queues, in order."""
    return [signal.reason for signal in bench.signals if isinstance(signal, PositionDeleted)]


# -- receive


@pytest.mark.spec("DM-203", "DM-207", "DM-208", "DM-287")
def test_a_receive_removes_the_first_message_permanently() -> None:
    """The first message is received, not the second (T37, AN-01)."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1", b"m2")
    assert body(bench.receive("orders")) == b"m1"
    assert reasons(bench) == [MessageClass.ACK_RECEIVE]
    bench.restart()
    assert bench.bodies() == [b"m2"]
    check(bench.state)


@pytest.mark.spec("DM-299")
def test_an_empty_queue_is_a_time_out_when_there_is_no_time_to_wait() -> None:
    """T33, an empty queue and a time-out of 0: time-out at once (AN-20)."""
    bench = Bench()
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    assert bench.ask(PeekMessage(0, "orders")).status is HResult.IO_TIMEOUT
    assert not bench.queue().readers.waiting


def test_a_receive_takes_as_many_as_there_are_up_to_its_count() -> None:
    bench = Bench()
    bench.send("orders", b"a", b"b", b"c")
    assert bodies(bench.receive("orders", count=2)) == [b"a", b"b"]
    assert bodies(bench.receive("orders", count=2)) == [b"c"]


def test_the_bytes_of_an_answer_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "ANSWER_BYTES", 1000)
    bench = Bench()
    bench.send("orders", *[b"x" * 400] * 5)
    assert len(bench.receive("orders", count=5).messages) == 2
    assert len(bench.ask(BrowseMessages(0, "orders")).messages) == 2
    assert len(bench.receive("orders", count=5).messages) == 2
    assert len(bench.receive("orders", count=5).messages) == 1


def test_a_message_too_large_for_an_answer_comes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "ANSWER_BYTES", 100)
    bench = Bench()
    bench.send("orders", b"x" * 400, b"y")
    assert len(bench.receive("orders", count=5).messages) == 1


@pytest.mark.spec("DM-039", "DM-205", "DM-303")
def test_what_a_transaction_received_is_hidden_from_other_readers() -> None:
    """T40, a message received in a transaction: locked for all others."""
    bench = Bench()
    bench.send("orders", b"m1")
    assert body(bench.receive("orders", transaction=bench.begin())) == b"m1"
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    assert bench.ask(PeekMessage(0, "orders")).status is HResult.IO_TIMEOUT
    assert len(bench.queue().order.locked) == 1


@pytest.mark.spec("DM-305")
@pytest.mark.parametrize(("allowed", "seen"), [(True, b"m1"), (False, HResult.IO_TIMEOUT)])
def test_a_locked_message_shows_to_a_peek_where_it_allows_that(allowed: bool, seen: object) -> None:
    """T41: a peek sees the locked message of T40 if the message allows that."""
    bench = Bench()
    bench.send("orders", b"m1", allow_peek_when_locked=allowed)
    bench.receive("orders", transaction=bench.begin())
    assert body(bench.ask(PeekMessage(0, "orders"))) == seen
    assert bodies(bench.ask(BrowseMessages(0, "orders"))) == ([b"m1"] if allowed else [])
    assert bench.receive("orders").status is HResult.IO_TIMEOUT


# -- peek and browse


@pytest.mark.spec("DM-229")
def test_a_peek_shows_the_first_message_and_changes_nothing() -> None:
    bench = Bench()
    bench.send("orders", b"m1", b"m2")
    before = everything(bench.state)
    assert body(bench.ask(PeekMessage(0, "orders"))) == b"m1"
    assert body(bench.ask(PeekMessage(0, "orders"))) == b"m1"
    assert everything(bench.state) == before


def test_a_browse_goes_through_a_queue_page_by_page() -> None:
    bench = Bench()
    bench.send("orders", b"low", priority=0)
    bench.send("orders", b"a", b"b", b"c")
    seen, place = [], -1
    while page := bench.ask(BrowseMessages(0, "orders", place, limit=3)).messages:
        seen += [each.message.body for each in page]
        place = page[-1].position.lookup_id
    assert seen == [b"a", b"b", b"c", b"low"]


def test_a_browse_goes_on_where_a_message_is_gone() -> None:
    bench = Bench()
    first, _, _ = bench.send("orders", b"a", b"b", b"c").lookup_ids
    bench.receive("orders", count=2)
    assert bodies(bench.ask(BrowseMessages(0, "orders", first))) == [b"c"]
    assert bodies(bench.ask(BrowseMessages(0, "orders", 2**63))) == []


def test_no_reader_sees_a_message_whose_time_is_over_even_before_the_timer_fires() -> None:
    bench = Bench()
    bench.send("orders", b"short", time_to_be_received=10)
    bench.send("orders", b"long")
    sleep_through(bench, 10)
    assert body(bench.ask(PeekMessage(0, "orders"))) == b"long"
    assert bodies(bench.ask(BrowseMessages(0, "orders"))) == [b"long"]
    assert body(bench.receive("orders")) == b"long"
    check(bench.state)


@pytest.mark.spec("DM-047")
@pytest.mark.parametrize("delivery", list(Delivery))
@pytest.mark.parametrize(
    "event",
    [ReceiveMessages(9, "orders"), PeekMessage(9, "orders"), BrowseMessages(9, "orders")],
    ids=["receive", "peek", "browse"],
)
def test_what_is_shown_of_a_recoverable_message_waits_for_the_disk(event: Event, delivery: Delivery) -> None:
    """The answer waits also where the facts of the turn are about express messages alone."""
    bench = Bench()
    bench.send("orders", b"over", time_to_be_received=10, delivery=Delivery.EXPRESS)
    bench.send("orders", b"m1", delivery=delivery)
    sleep_through(bench, 10)
    turn = bench.handle(event)
    assert body(bench.answer_to(9)) == b"m1"
    assert turn.waits is (delivery is Delivery.RECOVERABLE)


# -- two-phase reads


@pytest.mark.spec("DM-206", "DM-209")
def test_a_held_message_is_locked_and_not_gone() -> None:
    bench = Bench()
    bench.send("orders", b"m1", b"m2")
    answer = bench.receive("orders", hold=30)
    assert body(answer) == b"m1"
    assert answer.receipt
    assert bench.bodies() == [b"m2"]
    check(bench.state)
    bench.restart()
    assert bench.bodies() == [b"m1", b"m2"]  # a lock does not outlive the process


@pytest.mark.spec("DM-213", "DM-215")
def test_the_end_of_a_two_phase_read_removes_the_message_permanently() -> None:
    """T51, a read in two phases, ended with a deletion: the message leaves as received."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1")
    receipt = bench.receive("orders", hold=30).receipt
    assert bench.ask(EndRead(0, receipt, delete=True)).status is HResult.OK
    assert reasons(bench) == [MessageClass.ACK_RECEIVE]
    assert bench.bodies() == []
    bench.restart()
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-211", "DM-214")
def test_the_end_of_a_two_phase_read_can_give_the_message_back() -> None:
    """T52: an end without a deletion returns the message; a second end is refused."""
    bench = Bench()
    lookup_ids = bench.send("orders", b"m1", b"m2").lookup_ids
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    receipt = bench.receive(handle, hold=30).receipt
    assert bench.ask(EndRead(0, receipt, delete=False)).status is HResult.OK
    assert bench.bodies() == [b"m1", b"m2"]
    again = EndRead(0, receipt, delete=True, lookup_ids=lookup_ids[:1])
    assert bench.ask(again).status is HResult.TRANSACTION_SEQUENCE
    assert bench.bodies() == [b"m1", b"m2"]


def test_a_receipt_of_a_request_by_name_ends_with_its_last_message() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    receipt = bench.receive("orders", hold=30).receipt
    assert bench.ask(EndRead(0, receipt, delete=True)).status is HResult.OK
    assert bench.ask(EndRead(0, receipt, delete=True)).status is HResult.INVALID_HANDLE
    assert not bench.state.open.handles


def test_some_messages_of_a_receipt_can_be_ended_before_the_others() -> None:
    bench = Bench()
    a, b, c = bench.send("orders", b"a", b"b", b"c").lookup_ids
    receipt = bench.receive("orders", count=3, hold=30).receipt
    assert bench.ask(EndRead(0, receipt, delete=True, lookup_ids=(b,))).status is HResult.OK
    assert bench.ask(EndRead(0, receipt, delete=False, lookup_ids=(a,))).status is HResult.OK
    assert bench.bodies() == [b"a"]
    assert bench.ask(EndRead(0, receipt, delete=True, lookup_ids=(b,))).status is HResult.TRANSACTION_SEQUENCE
    assert bench.ask(EndRead(0, receipt, delete=True)).status is HResult.OK
    assert bench.bodies() == [b"a"]
    assert bench.queue().order.get(c) is None
    check(bench.state)


def test_a_message_named_twice_is_ended_once() -> None:
    bench = Bench()
    (lookup_id,) = bench.send("orders", b"a").lookup_ids
    receipt = bench.receive("orders", hold=30).receipt
    answer = bench.ask(EndRead(0, receipt, delete=True, lookup_ids=(lookup_id, lookup_id)))
    assert answer.status is HResult.OK
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-211")
def test_no_client_ends_the_read_of_another() -> None:
    bench = Bench()
    mine, others = bench.send("orders", b"a", b"b").lookup_ids
    receipt = bench.receive("orders", hold=30).receipt
    bench.receive("orders", hold=30)
    before = everything(bench.state)
    for lookup_ids in ((others,), (mine, others), (2**70,)):
        answer = bench.ask(EndRead(0, receipt, delete=True, lookup_ids=lookup_ids))
        assert answer.status is HResult.TRANSACTION_SEQUENCE
    assert bench.ask(EndRead(0, 9999, delete=True)).status is HResult.INVALID_HANDLE
    assert everything(bench.state) == before


@pytest.mark.spec("DM-214")
def test_a_held_message_comes_back_when_its_time_runs_out() -> None:
    bench = Bench()
    bench.send("orders", b"m1", b"m2")
    receipt = bench.receive("orders", hold=30).receipt
    bench.advance(29)
    assert bench.bodies() == [b"m2"]
    bench.advance(1)
    assert bench.bodies() == [b"m1", b"m2"]
    assert bench.ask(EndRead(0, receipt, delete=True)).status is HResult.INVALID_HANDLE
    assert not bench.queue().active


def test_a_receipt_that_was_ended_leaves_no_timer_behind() -> None:
    """A busy reader would leave one for every message it ever took."""
    bench = Bench()
    bench.send("orders", b"m1")
    receipt = bench.receive("orders", hold=30).receipt
    assert ("hold", receipt) in bench.timers
    bench.ask(EndRead(0, receipt, delete=True))
    assert ("hold", receipt) not in bench.timers


@pytest.mark.spec("DM-184", "DM-213")
@pytest.mark.parametrize("delete", [True, False])
def test_a_held_message_goes_with_a_purge_when_its_read_ends(delete: bool) -> None:
    """T53: a message that is purged between the phases is deleted when the read ends."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1")
    receipt = bench.receive("orders", hold=30).receipt
    bench.ask(PurgeQueue(0, "orders"))
    assert [each.purged for each in bench.queue().order.locked.values()] == [bench.now]
    assert bench.ask(EndRead(0, receipt, delete=delete)).status is HResult.OK
    assert reasons(bench) == [MessageClass.NACK_QUEUE_PURGED]
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-184", "DM-213")
def test_a_held_message_goes_with_a_purge_when_its_time_runs_out() -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1")
    bench.receive("orders", hold=30)
    bench.ask(PurgeQueue(0, "orders"))
    bench.advance(30)
    assert reasons(bench) == [MessageClass.NACK_QUEUE_PURGED]


@pytest.mark.spec("DM-210")
def test_a_read_cannot_end_on_a_queue_that_was_deleted() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    receipt = bench.receive(handle, hold=30).receipt
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.ask(EndRead(0, receipt, delete=True)).status is HResult.QUEUE_NOT_AVAILABLE
    bench.advance(30)
    assert bench.ask(CloseQueue(0, handle)).status is HResult.OK


def test_a_held_message_whose_time_runs_out_meanwhile_does_not_come_back() -> None:
    """AN-09: the lock wins while it lasts, and a message that is ended counts as received."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1", b"m2", time_to_be_received=10)
    first = bench.receive("orders", hold=30).receipt
    second = bench.receive("orders", hold=30).receipt
    bench.advance(20)
    assert reasons(bench) == []
    bench.ask(EndRead(0, first, delete=True))
    bench.ask(EndRead(0, second, delete=False))
    assert reasons(bench) == [MessageClass.ACK_RECEIVE, MessageClass.NACK_RECEIVE_TIMEOUT]
    assert bench.bodies() == []
    check(bench.state)


def test_an_express_message_can_be_held_too() -> None:
    bench = Bench()
    bench.send("orders", b"m1", delivery=Delivery.EXPRESS)
    receipt = bench.receive("orders", hold=30).receipt
    bench.ask(EndRead(0, receipt, delete=False))
    assert body(bench.receive("orders")) == b"m1"
    check(bench.state)


# -- acknowledge and receive in one request


def test_a_receive_can_end_the_read_before_it() -> None:
    bench = Bench()
    bench.send("orders", b"m1", b"m2")
    first = bench.receive("orders", hold=30)
    second = bench.receive("orders", hold=30, acknowledge=first.receipt)
    assert body(second) == b"m2"
    assert second.receipt != first.receipt
    bench.advance(30)
    assert bench.bodies() == [b"m2"]


def test_a_receive_with_a_receipt_that_is_over_takes_nothing() -> None:
    bench = Bench()
    bench.send("orders", b"m1", b"m2")
    receipt = bench.receive("orders", hold=30).receipt
    bench.advance(30)
    before = everything(bench.state)
    answer = bench.receive("orders", hold=30, acknowledge=receipt)
    assert answer.status is HResult.INVALID_HANDLE
    assert "receipt" in answer.why
    assert everything(bench.state) == before


@pytest.mark.parametrize("queue", ["bad\\name\\here", "x" * 125, "other\\private$\\q"])
def test_a_receive_from_a_bad_name_acknowledges_nothing(queue: str) -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    receipt = bench.receive("orders", hold=30).receipt
    before = everything(bench.state)
    assert bench.receive(queue, acknowledge=receipt).status is HResult.INVALID_PARAMETER
    assert everything(bench.state) == before


def test_messages_of_several_holds_of_one_handle_share_its_receipt() -> None:
    bench = Bench()
    bench.send("orders", b"a", b"b")
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    first, second = bench.receive(handle, hold=30), bench.receive(handle, hold=60)
    assert first.receipt == second.receipt == handle
    bench.ask(EndRead(0, handle, delete=False))
    assert bench.bodies() == [b"a", b"b"]


@pytest.mark.spec("DM-198")
def test_a_receive_is_held_or_in_a_transaction_but_not_both() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    transaction = bench.begin()
    before = everything(bench.state)
    request = ReceiveMessages(0, "orders", hold=seconds(30), transaction=transaction)
    assert bench.ask(request).status is HResult.INVALID_PARAMETER
    assert everything(bench.state) == before


@pytest.mark.spec("DM-286", "DM-288")
def test_bytes_are_counted_once_however_often_a_message_comes_back() -> None:
    """AN-05: a message's bytes are counted once and taken off once."""
    bench = Bench()
    bench.send("orders", b"m1")
    size = bench.queue().total_bytes
    for _ in range(3):
        bench.ask(EndRead(0, bench.receive("orders", hold=30).receipt, delete=False))
        transaction = bench.begin()
        bench.receive("orders", transaction=transaction)
        bench.ask(AbortTransaction(0, transaction))
        assert bench.queue().total_bytes == size == bench.state.totals.bytes
    assert len(walk(bench.queue())) == 1


@pytest.mark.parametrize(
    "queue", [pytest.param("nowhere", id="an unknown queue"), pytest.param(12345, id="an unknown handle")]
)
def test_a_receive_that_is_refused_acknowledges_nothing(queue: int | str) -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    receipt = bench.receive("orders", hold=30).receipt
    before = everything(bench.state)
    assert bench.ask(ReceiveMessages(0, queue, acknowledge=receipt)).status is not HResult.OK
    assert everything(bench.state) == before

"""Tests of where a message goes when it leaves its queue: journals and dead-letter queues."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model.events import (
    AbortTransaction,
    Access,
    ChangeQueue,
    CommitTransaction,
    DeleteQueue,
    EndRead,
    LookUpMessage,
    MoveMessage,
    OpenCursor,
    OpenQueue,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import PACKET_HEADERS, Delivery, MessageClass, SequenceId
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import MESSAGES, SHARES
from reliquary.queueing.rules.losses import by_word
from tests.queueing.answers import bodies, body
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, every, walk

DEAD, DEAD_TRANSACTIONAL, JOURNAL = "system$;deadletter", "system$;deadxact", "system$;journal"


def sized(size: int) -> bytes:
    """Return the body of a message of this size."""
    return b"x" * (size - PACKET_HEADERS)


def journaled(**settings: Any) -> Bench:
    bench = Bench("other")
    bench.create("orders", journaling=True, **settings)
    return bench


# -- the journal of a queue


def test_a_received_message_goes_to_the_journal_of_its_queue() -> None:
    """AN-42: a received message is copied to the queue's journal, if it fits."""
    bench = journaled()
    bench.send("orders", b"m1", time_to_be_received=60)
    number = bench.queue().number
    (taken,) = bench.receive("orders").messages
    (kept,) = walk(bench.queue("orders;journal"))
    assert (kept.reason, kept.origin, kept.expires) == (MessageClass.ACK_RECEIVE, number, 0)
    assert kept.lookup_id == taken.position.lookup_id
    assert len(every(bench.state, MESSAGES)) == 1
    bench.advance(10**6)
    bench.restart()
    assert body(bench.receive("orders;journal")) == b"m1"
    assert not every(bench.state, MESSAGES)
    check(bench.state)


def test_a_queue_without_a_journal_keeps_nothing() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    bench.receive("orders")
    assert bench.bodies("orders;journal") == []


def test_journaling_begins_and_ends_with_a_change() -> None:
    bench = Bench()
    for on in (True, False, True):
        bench.ask(ChangeQueue(0, "orders", {"journaling": on}))
        bench.send("orders", b"on" if on else b"off")
        bench.receive("orders")
    assert bench.bodies("orders;journal") == [b"on", b"on"]


@pytest.mark.parametrize("how", ["receive", "look up", "end of a hold", "commit", "acknowledge"])
def test_every_way_to_receive_is_journaled(how: str) -> None:
    bench = journaled()
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    if how == "receive":
        bench.receive("orders")
    elif how == "look up":
        bench.ask(LookUpMessage(0, "orders", lookup_id, peek=False))
    elif how == "commit":
        transaction = bench.begin()
        bench.receive("orders", transaction=transaction)
        assert bench.bodies("orders;journal") == []
        bench.ask(CommitTransaction(0, transaction))
    else:
        receipt = bench.receive("orders", hold=30).receipt
        assert bench.bodies("orders;journal") == []
        if how == "acknowledge":
            bench.receive("orders", acknowledge=receipt)
        else:
            bench.ask(EndRead(0, receipt, delete=True))
    assert bench.bodies("orders;journal") == [b"m1"]
    check(bench.state)


@pytest.mark.parametrize("how", ["give back", "abort", "purge", "expire", "move", "delete"])
def test_what_was_not_received_is_not_journaled(how: str) -> None:
    bench = journaled()
    (lookup_id,) = bench.send("orders", b"m1", time_to_be_received=60).lookup_ids
    if how == "give back":
        bench.ask(EndRead(0, bench.receive("orders", hold=30).receipt, delete=False))
    elif how == "abort":
        transaction = bench.begin()
        bench.receive("orders", transaction=transaction)
        bench.ask(AbortTransaction(0, transaction))
    elif how == "purge":
        bench.ask(PurgeQueue(0, "orders"))
    elif how == "expire":
        bench.advance(60)
    elif how == "move":
        bench.ask(MoveMessage(0, "orders", lookup_id, "other"))
    else:
        bench.ask(DeleteQueue(0, "orders"))
        bench.create("orders")
    assert bench.bodies("orders;journal") == []
    check(bench.state)


def test_what_leaves_a_journal_is_gone() -> None:
    bench = journaled()
    bench.send("orders", b"m1")
    bench.receive("orders")
    assert body(bench.receive("orders;journal")) == b"m1"
    assert bench.bodies("orders;journal") == []
    check(bench.state)


@pytest.mark.parametrize(("second", "kept"), [(300, 2), (301, 1)])
def test_a_copy_for_which_the_journal_has_no_room_is_not_kept(second: int, kept: int) -> None:
    """The receive succeeds without the copy (AN-42)."""
    bench = journaled(journal_quota=1)
    bench.send("orders", sized(724), sized(second))
    assert len(bench.receive("orders", count=2).messages) == 2
    assert len(bench.bodies("orders;journal")) == kept
    assert by_word(bench.queue().counts.lost) == ({"journal": 1} if kept == 1 else {})
    check(bench.state)


def test_a_full_queue_does_not_fill_its_journal() -> None:
    """Queue and journal have a quota each."""
    bench = journaled(quota=1, journal_quota=2)
    for _ in range(2):
        assert bench.send("orders", sized(1024)).status is HResult.OK
        bench.receive("orders")
    assert len(bench.bodies("orders;journal")) == 2


def test_an_express_message_is_journaled_in_memory() -> None:
    bench = journaled()
    bench.send("orders", b"m1", delivery=Delivery.EXPRESS)
    bench.receive("orders")
    assert bench.bodies("orders;journal") == [b"m1"]
    check(bench.state)
    bench.restart()
    assert bench.bodies("orders;journal") == []


def test_a_message_in_both_journals_is_stored_once() -> None:
    bench = journaled()
    bench.send("orders", b"m1", positive_journaling=True)
    bench.receive("orders")
    assert bench.bodies("orders;journal") == bench.bodies(JOURNAL) == [b"m1"]
    assert len(every(bench.state, MESSAGES)) == 1
    bench.receive("orders;journal")
    bench.receive(JOURNAL)
    assert not every(bench.state, MESSAGES)
    assert not every(bench.state, SHARES)


def test_a_copy_can_be_moved_from_the_system_journal_to_where_its_message_still_is() -> None:
    bench = Bench()
    bench.send("orders", b"m1", positive_journaling=True)
    (copy,) = walk(bench.queue(JOURNAL))
    assert bench.ask(MoveMessage(0, JOURNAL, copy.lookup_id, "orders")).status is HResult.OK
    check(bench.state)
    assert bodies(bench.receive("orders", count=3)) == [b"m1", b"m1"]
    assert not every(bench.state, MESSAGES)
    check(bench.state)


# -- dead letters


def fail(bench: Bench, how: str, **attributes: Any) -> MessageClass:
    """Let a message fail; answers with the reason."""
    bench.send("orders", b"m1", time_to_be_received=60, **attributes)
    if how == "expire":
        bench.advance(60)
        return MessageClass.NACK_RECEIVE_TIMEOUT
    if how == "purge":
        bench.ask(PurgeQueue(0, "orders"))
        return MessageClass.NACK_QUEUE_PURGED
    bench.ask(DeleteQueue(0, "orders"))
    return MessageClass.NACK_QUEUE_DELETED


WAYS = pytest.mark.parametrize("how", ["expire", "purge", "delete"])


@pytest.mark.spec("DM-050", "DM-080")
@WAYS
def test_a_failed_message_goes_to_the_dead_letter_queue_where_it_asked_for_that(how: str) -> None:
    bench = Bench("orders", "other", subscribed=[PositionDeleted])
    number = bench.queue().number
    reason = fail(bench, how, negative_journaling=True)
    (dead,) = walk(bench.queue(DEAD))
    assert (dead.reason, dead.origin, dead.expires) == (reason, number, 0)
    assert [signal.reason for signal in bench.signals if isinstance(signal, PositionDeleted)] == [reason]
    bench.advance(10**6)
    bench.restart()
    assert body(bench.receive(DEAD)) == b"m1"
    assert not every(bench.state, MESSAGES)
    check(bench.state)


@pytest.mark.spec("DM-050")
@WAYS
def test_a_failed_message_that_did_not_ask_is_gone(how: str) -> None:
    bench = Bench("orders", "other")
    fail(bench, how)
    assert bench.bodies(DEAD) == bench.bodies(DEAD_TRANSACTIONAL) == []
    assert not every(bench.state, MESSAGES)
    check(bench.state)


def test_a_received_message_is_no_dead_letter() -> None:
    bench = Bench()
    bench.send("orders", b"m1", negative_journaling=True)
    bench.receive("orders")
    assert bench.bodies(DEAD) == []


@pytest.mark.spec("DM-050")
@WAYS
def test_a_failed_message_of_a_transaction_goes_to_the_transactional_dead_letter_queue(how: str) -> None:
    bench = Bench("orders", "other")
    transaction = bench.begin()
    bench.send("orders", b"m1", negative_journaling=True, time_to_be_received=60, transaction=transaction)
    bench.ask(CommitTransaction(0, transaction))
    if how == "expire":
        bench.advance(60)
    else:
        bench.ask(PurgeQueue(0, "orders") if how == "purge" else DeleteQueue(0, "orders"))
    assert bench.bodies(DEAD_TRANSACTIONAL) == [b"m1"]
    assert bench.bodies(DEAD) == []
    check(bench.state)


@pytest.mark.spec("DM-051")
@WAYS
@pytest.mark.parametrize("path", ["mine", r".\private$\MINE", "mine;failed"])
def test_a_failed_message_goes_to_the_queue_it_names(how: str, path: str) -> None:
    bench = Bench("orders", "mine", "mine;failed")
    fail(bench, how, negative_journaling=True, application_deadletter_queue=path)
    assert bench.bodies(path) == [b"m1"]
    assert bench.bodies(DEAD) == []
    check(bench.state)


@pytest.mark.spec("DM-050", "DM-051")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param("nowhere", id="not there"),
        pytest.param("a\\b\\c\\d", id="no name"),
        pytest.param("OTHER\\private$\\mine", id="another computer"),
        pytest.param("system$;journal", id="a system queue"),
        pytest.param("strict", id="a transactional queue for a message outside any transaction"),
    ],
)
def test_a_queue_of_no_use_counts_as_none(path: str) -> None:
    bench = Bench()
    bench.create("strict", transactional=True)
    fail(bench, "purge", negative_journaling=True, application_deadletter_queue=path)
    assert bench.bodies(DEAD) == [b"m1"]


@pytest.mark.spec("DM-051")
@pytest.mark.parametrize(("path", "found"), [("strict", "strict"), ("mine", DEAD_TRANSACTIONAL)])
def test_a_message_of_a_transaction_needs_a_transactional_queue_of_its_own(path: str, found: str) -> None:
    bench = Bench("orders", "mine")
    bench.create("strict", transactional=True)
    transaction = bench.begin()
    bench.send(
        "orders", b"m1", negative_journaling=True, application_deadletter_queue=path, transaction=transaction
    )
    bench.ask(CommitTransaction(0, transaction))
    bench.ask(PurgeQueue(0, "orders"))
    assert bench.bodies(found) == [b"m1"]
    check(bench.state)


def test_a_dead_letter_does_not_die_again() -> None:
    bench = Bench("orders", "mine")
    fail(bench, "purge", negative_journaling=True, application_deadletter_queue="mine")
    bench.ask(PurgeQueue(0, "mine"))
    assert bench.bodies("mine") == bench.bodies(DEAD) == []
    check(bench.state)


@pytest.mark.spec("DM-051")
@pytest.mark.parametrize("how", ["purge", "expire"])
def test_a_dead_letter_of_a_queue_is_not_kept_in_that_queue(how: str) -> None:
    """Otherwise it would depend on the order of turns whether a purge leaves messages in the queue."""
    bench = Bench(sizes=Sizes(at_once=2))
    bench.send(
        "orders",
        *(b"m1", b"m2", b"m3"),
        negative_journaling=True,
        application_deadletter_queue="orders",
        time_to_be_received=5,
    )
    if how == "purge":
        bench.ask(PurgeQueue(0, "orders"))
    bench.advance(5)
    assert bench.bodies() == []
    assert bench.bodies(DEAD) == [b"m1", b"m2", b"m3"]
    check(bench.state)


@pytest.mark.spec("DM-050")
def test_a_dead_letter_for_which_there_is_no_room_is_not_kept() -> None:
    bench = Bench()
    bench.ask(ChangeQueue(0, DEAD, {"quota": 1}))
    for _ in range(2):
        bench.send("orders", sized(600), negative_journaling=True)
    bench.ask(PurgeQueue(0, "orders"))
    assert len(bench.bodies(DEAD)) == 1
    assert by_word(bench.queue().counts.lost) == {"dead-letter": 1}
    assert bench.bodies() == []
    check(bench.state)


def test_an_express_dead_letter_is_kept_in_memory_only() -> None:
    bench = Bench()
    fail(bench, "purge", negative_journaling=True, delivery=Delivery.EXPRESS)
    assert bench.bodies(DEAD) == [b"m1"]
    check(bench.state)
    bench.restart()
    assert bench.bodies(DEAD) == []


def test_a_dead_letter_keeps_its_copy_in_the_system_journal() -> None:
    bench = Bench()
    fail(bench, "purge", negative_journaling=True, positive_journaling=True)
    assert bench.bodies(DEAD) == bench.bodies(JOURNAL) == [b"m1"]
    assert len(every(bench.state, MESSAGES)) == 1
    check(bench.state)
    bench.receive(DEAD)
    assert bench.bodies(JOURNAL) == [b"m1"]
    check(bench.state)


@pytest.mark.spec("DM-108", "DM-050")
@pytest.mark.parametrize("asked", [True, False])
def test_a_message_that_commits_into_a_queue_that_is_gone_is_a_dead_letter(asked: bool) -> None:
    bench = Bench("orders", "other")
    transaction = bench.begin()
    bench.send("orders", b"m1", negative_journaling=asked, transaction=transaction)
    bench.ask(PrepareTransaction(0, transaction))
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.ask(CommitTransaction(0, transaction)).status is HResult.OK
    assert bench.bodies(DEAD_TRANSACTIONAL) == ([b"m1"] if asked else [])
    if asked:
        assert walk(bench.queue(DEAD_TRANSACTIONAL))[0].reason is MessageClass.NACK_BAD_DEST_QUEUE
    check(bench.state)


@pytest.mark.spec("DM-049")
def test_the_system_journal_has_the_quota_of_the_manager() -> None:
    bench = Bench()
    bench.state.manager.record = msgspec.structs.replace(bench.state.identity(), journal_quota=0)
    bench.send("orders", b"m1", positive_journaling=True)
    assert bench.bodies(JOURNAL) == []
    assert by_word(bench.queue().counts.lost) == {"source-journal": 1}


# -- a journal that is required


def required(quota: int = 1) -> Bench:
    """Return a queue whose journal has room for one message of the two."""
    bench = Bench("other")
    bench.create("orders", journaling=True, journal_required=True, journal_quota=quota)
    bench.send("orders", sized(600), sized(600))
    return bench


HOWS = pytest.mark.parametrize("how", ["receive", "hold", "transaction", "look up", "cursor", "wait"])


def take(bench: Bench, how: str) -> Any:
    if how == "hold":
        return bench.receive("orders", hold=30)
    if how == "transaction":
        return bench.receive("orders", transaction=bench.begin())
    if how == "look up":
        return bench.ask(LookUpMessage(0, "orders", 0, Seek.FIRST, peek=False))
    if how == "cursor":
        handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
        cursor = bench.ask(OpenCursor(0, handle)).handle
        return bench.receive(handle, cursor=cursor)
    return bench.receive("orders", timeout=30 if how == "wait" else 0)


@HOWS
def test_what_a_required_journal_has_no_room_for_is_not_received(how: str) -> None:
    bench = required()
    bench.receive("orders")
    answer = take(bench, how)
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "journal is full" in answer.why
    assert len(bench.bodies()) == len(bench.bodies("orders;journal")) == 1
    assert not bench.queue().counts.lost
    bench.receive("orders;journal")
    assert len(take(bench, how).messages) == 1
    check(bench.state)


@pytest.mark.parametrize("cursor", [False, True])
def test_a_reader_who_waits_is_informed_that_the_required_journal_is_full(cursor: bool) -> None:
    bench = required()
    bench.receive("orders", count=2)
    bench.receive("orders")
    bench.ask(PurgeQueue(0, "orders"))
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    opened = bench.ask(OpenCursor(0, handle)).handle if cursor else 0
    request = ReceiveMessages(0, handle, timeout=seconds(30), cursor=opened)
    waiting = bench.begin_asking(request)
    assert bench.answer_to(waiting) is None
    bench.send("orders", sized(600))
    assert bench.answer_to(waiting).status is HResult.INSUFFICIENT_RESOURCES
    assert len(bench.bodies()) == 1
    check(bench.state)


def test_as_many_are_received_as_a_required_journal_has_room_for() -> None:
    bench = required()
    bench.send("orders", sized(300))
    assert len(bench.receive("orders", count=3).messages) == 1, "not the small one before the large one"


@pytest.mark.parametrize("how", ["hold", "transaction"])
def test_a_required_copy_is_kept_even_if_the_journal_was_filled_meanwhile(how: str) -> None:
    bench = required()
    transaction = bench.begin()
    held: dict[str, Any] = {"hold": 30} if how == "hold" else {"transaction": transaction}
    receipt = bench.receive("orders", **held).receipt
    bench.receive("orders")
    bench.ask(EndRead(0, receipt, delete=True) if how == "hold" else CommitTransaction(0, transaction))
    assert len(bench.bodies("orders;journal")) == 2
    assert not bench.queue().counts.lost


def test_a_journal_is_required_only_where_there_is_one() -> None:
    bench = Bench()
    bench.create("plain", journal_required=True)
    bench.create("plain;sub", journaling=True, journal_required=True, journal_quota=0)
    for path in ("plain", "plain;sub"):
        bench.send(path, b"m")
        assert body(bench.receive(path)) == b"m"


# -- rejected by its reader


@pytest.mark.parametrize("asked", [True, False])
def test_a_message_that_its_reader_rejects_is_a_dead_letter(asked: bool) -> None:
    bench = journaled()
    bench.send("orders", b"m1", b"m2", negative_journaling=asked)
    received = bench.receive("orders", count=2, hold=30)
    first = received.messages[0].position.lookup_id
    rejection = EndRead(0, received.receipt, delete=True, lookup_ids=(first,), reject=True)
    assert bench.ask(rejection).status is HResult.OK
    dead = walk(bench.queue(DEAD))
    assert [position.reason for position in dead] == [MessageClass.NACK_RECEIVE_REJECTED] * asked
    assert bench.bodies("orders;journal") == []
    bench.ask(EndRead(0, received.receipt, delete=True))
    assert bench.bodies("orders;journal") == [b"m2"]
    check(bench.state)


def test_a_message_is_not_rejected_and_given_back() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    receipt = bench.receive("orders", hold=30).receipt
    answer = bench.ask(EndRead(0, receipt, delete=False, reject=True))
    assert answer.status is HResult.INVALID_PARAMETER
    assert answer.why == "a message is rejected or given back, not both"


# -- where a copy came from


@WAYS
def test_a_dead_letter_names_its_queue_even_when_that_is_gone(how: str) -> None:
    bench = Bench("orders", "other")
    fail(bench, how, negative_journaling=True)
    bench.ask(DeleteQueue(0, "orders"))
    bench.restart()
    (dead,) = walk(bench.queue(DEAD))
    assert dead.origin_path == "BENCH\\private$\\orders"


@pytest.mark.spec("DM-051")
@pytest.mark.parametrize("name", ["PUBLIC={id}", "DIRECT=OS:localhost\\private$\\mine"])
def test_a_queue_for_failed_messages_may_have_a_format_name(name: str) -> None:
    bench = Bench("orders", "mine")
    name = name.format(id=bench.queue("mine").record.identifier)
    fail(bench, "purge", negative_journaling=True, application_deadletter_queue=name)
    assert bench.bodies("mine") == [b"m1"]


@pytest.mark.spec("DM-051")
def test_a_journal_is_no_queue_for_failed_messages() -> None:
    bench = Bench("orders", "mine")
    fail(bench, "purge", negative_journaling=True, application_deadletter_queue="mine;journal")
    assert bench.bodies(DEAD) == [b"m1"]


@pytest.mark.spec("DM-050")
@WAYS
def test_a_message_of_a_stream_is_a_dead_letter_at_its_source_and_not_here(how: str) -> None:
    bench = Bench("orders", "other")
    fail(bench, how, negative_journaling=True, sequence=SequenceId(1, 1))
    assert bench.bodies(DEAD_TRANSACTIONAL) == bench.bodies(DEAD) == []
    check(bench.state)

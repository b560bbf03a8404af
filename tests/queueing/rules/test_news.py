"""Tests of acknowledgements: sent once, in the turn of the change they report, and not for each other."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    AbortTransaction,
    BrowseMessages,
    ChangeQueue,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    EndRead,
    LookUpMessage,
    PeekMessage,
    PrepareTransaction,
    PurgeQueue,
)
from reliquary.queueing.model.facts import MessagesStored, PositionsRemoved
from reliquary.queueing.model.message import PACKET_HEADERS, Acknowledgement, Delivery, MessageClass
from reliquary.queueing.rules.losses import by_word
from tests.queueing.administration import ARRIVED, DEAD, TAKEN, ask, bench_with, classes, news
from tests.queueing.answers import body
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable

# -- arrival and receive


@pytest.mark.spec("DM-056")
@pytest.mark.parametrize("request_", Acknowledgement)
def test_an_arrival_is_acknowledged_to_those_who_asked(request_: Acknowledgement) -> None:
    bench = bench_with()
    ask(bench, b"m", wants=(request_,))
    wanted = request_ in (Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_REACH_QUEUE)
    assert classes(bench) == ([ARRIVED] if wanted else [])
    check(bench.state)


@pytest.mark.spec("DM-056")
@pytest.mark.parametrize("request_", Acknowledgement)
@pytest.mark.parametrize("how", ["receive", "look up", "end of a hold", "acknowledge", "commit"])
def test_every_way_to_receive_is_acknowledged(request_: Acknowledgement, how: str) -> None:
    bench = bench_with()
    (lookup_id,) = ask(bench, b"m", wants=(request_,)).lookup_ids
    bench.ask(PurgeQueue(0, "admin"))
    if how == "receive":
        bench.receive("orders")
    elif how == "look up":
        bench.ask(LookUpMessage(0, "orders", lookup_id, peek=False))
    elif how == "commit":
        transaction = bench.begin()
        bench.receive("orders", transaction=transaction)
        assert classes(bench) == []
        bench.ask(CommitTransaction(0, transaction))
    else:
        receipt = bench.receive("orders", hold=30).receipt
        assert classes(bench) == []
        if how == "acknowledge":
            bench.receive("orders", acknowledge=receipt)
        else:
            bench.ask(EndRead(0, receipt, delete=True))
    wanted = request_ in (Acknowledgement.POS_RECEIVE, Acknowledgement.FULL_RECEIVE)
    assert classes(bench) == ([TAKEN] if wanted else [])
    check(bench.state)


def test_the_acknowledgement_is_in_the_turn_that_it_reports() -> None:
    bench = bench_with()
    ask(bench, b"m")
    bench.receive("orders")
    (turn,) = [turn for turn in bench.turns if any(isinstance(fact, PositionsRemoved) for fact in turn.facts)]
    assert [type(fact) for fact in turn.facts] == [PositionsRemoved, MessagesStored]


def test_an_acknowledgement_names_its_message_and_has_its_own_identity() -> None:
    bench = bench_with()
    sent = ask(bench, b"m", label="a label", application_tag=7).identifiers()[0]
    bench.receive("orders")
    (made,) = news(bench)
    assert (made.correlation, made.label, made.application_tag, made.body) == (sent, "a label", 7, b"")
    assert made.identifier.lineage == made.source_machine == bench.state.identity().identifier
    assert made.identifier != sent
    assert made.response_queue == "DIRECT=OS:BENCH\\private$\\orders"
    assert made.destination_queue == "admin"


@pytest.mark.parametrize("look", [PeekMessage(0, "orders"), BrowseMessages(0, "orders")])
def test_a_look_is_no_receive(look: Any) -> None:
    bench = bench_with()
    ask(bench, b"m")
    assert body(bench.ask(look)) == b"m"
    assert classes(bench) == []


@pytest.mark.parametrize("how", ["give back", "time runs out", "abort"])
def test_what_comes_back_was_not_received(how: str) -> None:
    bench = bench_with()
    ask(bench, b"m")
    if how == "abort":
        transaction = bench.begin()
        bench.receive("orders", transaction=transaction)
        bench.ask(AbortTransaction(0, transaction))
    else:
        receipt = bench.receive("orders", hold=30).receipt
        if how == "give back":
            bench.ask(EndRead(0, receipt, delete=False))
        else:
            bench.advance(30)
    assert classes(bench) == []
    bench.receive("orders")
    assert classes(bench) == [TAKEN]


@pytest.mark.parametrize("prepared", [False, True])
def test_an_arrival_in_a_transaction_is_acknowledged_when_it_commits(prepared: bool) -> None:
    bench = bench_with()
    both = (Acknowledgement.FULL_REACH_QUEUE, Acknowledgement.FULL_RECEIVE)
    transaction = bench.begin()
    ask(bench, b"m", wants=both, transaction=transaction)
    if prepared:
        bench.ask(PrepareTransaction(0, transaction, single_phase=False))
        bench.restart()
    assert classes(bench) == []
    bench.ask(CommitTransaction(0, transaction))
    assert classes(bench) == [ARRIVED]
    bench.restart()
    bench.receive("orders")
    assert classes(bench) == [ARRIVED, TAKEN]
    check(bench.state)


def test_what_a_transaction_did_not_send_is_not_acknowledged() -> None:
    bench = bench_with()
    transaction = bench.begin()
    ask(bench, b"m", wants=tuple(Acknowledgement), transaction=transaction)
    bench.ask(AbortTransaction(0, transaction))
    assert classes(bench) == []


def test_a_reader_who_waits_for_the_acknowledgement_gets_it_in_that_turn() -> None:
    bench = bench_with()
    ask(bench, b"m")
    waiting = bench.begin_asking(PeekMessage(0, "admin", timeout=FOREVER_WAIT))
    bench.receive("orders")
    assert bench.answer_to(waiting).messages[0].message.message_class == TAKEN


# -- failures


def fail(bench: Bench, how: str, **attributes: Any) -> MessageClass:
    """Let a message fail in its queue; answers with the reason."""
    ask(bench, b"m", time_to_be_received=60, **attributes)
    if how == "expire":
        bench.advance(60)
        return MessageClass.NACK_RECEIVE_TIMEOUT
    if how == "purge":
        bench.ask(PurgeQueue(0, "orders"))
        return MessageClass.NACK_QUEUE_PURGED
    if how == "reject":
        receipt = bench.receive("orders", hold=30).receipt
        bench.ask(EndRead(0, receipt, delete=True, reject=True))
        return MessageClass.NACK_RECEIVE_REJECTED
    bench.ask(DeleteQueue(0, "orders"))
    return MessageClass.NACK_QUEUE_DELETED


WAYS = pytest.mark.parametrize("how", ["expire", "purge", "reject", "delete"])


@pytest.mark.spec("DM-056")
@WAYS
@pytest.mark.parametrize("request_", Acknowledgement)
def test_a_message_that_was_not_received_is_acknowledged_with_its_body(
    how: str, request_: Acknowledgement
) -> None:
    bench = bench_with()
    reason = fail(bench, how, wants=(request_,))
    wanted = [reason] if request_ in ASKED_FOR_FAILURES else []
    found = [message for message in news(bench) if message.message_class != ARRIVED]
    assert [message.message_class for message in found] == wanted
    assert [message.body for message in found] == [b"m"] * len(wanted)
    check(bench.state)


ASKED_FOR_FAILURES = (Acknowledgement.NEG_RECEIVE, Acknowledgement.NACK_RECEIVE, Acknowledgement.FULL_RECEIVE)


@WAYS
def test_a_dead_letter_is_acknowledged_too_and_only_once(how: str) -> None:
    bench = bench_with()
    reason = fail(bench, how, negative_journaling=True)
    assert classes(bench) == [reason]
    assert body(bench.receive(DEAD)) == b"m"
    assert classes(bench) == [reason]
    check(bench.state)


def test_a_purge_of_what_a_reader_holds_is_acknowledged_when_it_comes_back() -> None:
    bench = bench_with()
    ask(bench, b"m")
    receipt = bench.receive("orders", hold=30).receipt
    bench.ask(PurgeQueue(0, "orders"))
    assert classes(bench) == []
    bench.ask(EndRead(0, receipt, delete=False))
    assert classes(bench) == [MessageClass.NACK_QUEUE_PURGED]


def test_a_message_that_commits_into_a_queue_that_is_gone_did_not_arrive() -> None:
    bench = bench_with()
    transaction = bench.begin()
    ask(bench, b"m", transaction=transaction)
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.ask(DeleteQueue(0, "orders"))
    bench.ask(CommitTransaction(0, transaction))
    (made,) = news(bench)
    assert (made.message_class, made.body) == (MessageClass.NACK_BAD_DEST_QUEUE, b"m")
    check(bench.state)


# -- no loops


@pytest.mark.parametrize("end", ["receive", "purge", "delete"])
def test_a_queue_that_is_its_own_administration_queue(end: str) -> None:
    bench = Bench()
    ask(bench, b"m", wants=tuple(Acknowledgement), administration_queue="orders")
    assert len(bench.bodies()) == 2
    if end == "receive":
        assert len(bench.receive("orders", count=10).messages) == 2
        assert classes(bench, "orders") == [TAKEN]
        bench.receive("orders", count=10)
    elif end == "purge":
        bench.ask(PurgeQueue(0, "orders"))
        assert classes(bench, "orders") == [MessageClass.NACK_QUEUE_PURGED]
        bench.ask(PurgeQueue(0, "orders"))
    else:
        bench.ask(DeleteQueue(0, "orders"))
        assert by_word(bench.state.totals.lost) == {"acknowledgement": 1}
        bench.create("orders")
    assert bench.bodies() == []
    check(bench.state)


def test_no_acknowledgement_is_sent_for_an_acknowledgement() -> None:
    """An acknowledgement that came from another manager may ask for anything."""
    bench = bench_with()
    ask(bench, b"m", wants=tuple(Acknowledgement), message_class=MessageClass.ACK_RECEIVE)
    bench.receive("orders")
    assert classes(bench) == []


def test_each_of_several_administration_queues_gets_one() -> None:
    bench = bench_with("second", "third")
    ask(bench, b"m", administration_queues=("second", "third", "admin"))
    bench.receive("orders")
    assert classes(bench) == classes(bench, "second") == classes(bench, "third") == [TAKEN]
    check(bench.state)


# -- express and recoverable


def test_the_acknowledgement_of_an_express_message_is_express() -> None:
    bench = bench_with()
    ask(bench, b"m", delivery=Delivery.EXPRESS)
    bench.receive("orders")
    assert classes(bench) == [TAKEN]
    assert bench.turns[-1].facts[0].volatile
    bench.restart()
    assert classes(bench) == []


def test_the_acknowledgement_of_a_recoverable_message_survives_a_crash() -> None:
    bench = bench_with()
    ask(bench, b"m")
    bench.receive("orders")
    live = durable(bench.state)
    bench.flush()
    bench.restart(crash=True, start=False)
    assert durable(bench.state) == live
    assert classes(bench) == [TAKEN]


def test_a_message_that_was_there_before_a_restart_is_acknowledged_after_it() -> None:
    bench = bench_with()
    ask(bench, b"m")
    bench.restart()
    bench.receive("orders")
    assert classes(bench) == [TAKEN]
    check(bench.state)


# -- what cannot be sent


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere", "there is no queue nowhere"),
        ("a\\b\\c\\d", "is not this computer"),
        ("system$;deadletter", "does not support the operation"),
        ("orders;journal", "does not support the operation"),
        ("strict", "transactions only"),
        ("small", "the queue's quota is 0 kilobytes"),
    ],
)
def test_an_acknowledgement_that_cannot_be_stored_is_counted_and_reported(name: str, why: str) -> None:
    bench = bench_with()
    bench.create("strict", transactional=True)
    bench.create("small", quota=0)
    ask(bench, b"m", b"m", administration_queue=name)
    assert body(bench.ask(PeekMessage(0, "orders"))) == b"m"
    assert len(bench.receive("orders", count=2).messages) == 2
    assert by_word(bench.queue().counts.lost) == {"acknowledgement": 2}
    (warning,) = bench.warnings
    assert (warning.about, warning.count) == ("BENCH\\private$\\orders", 2)
    assert why in warning.why
    bench.restart()
    assert by_word(bench.queue().counts.lost) == {"acknowledgement": 2}
    check(bench.state)


def test_a_quota_is_kept_by_all_the_acknowledgements_of_one_turn() -> None:
    bench = bench_with()
    size = PACKET_HEADERS + 2 * len("admin") + 2 * len("DIRECT=OS:BENCH\\private$\\orders")
    bench.ask(ChangeQueue(0, "admin", {"quota": 1}))
    ask(bench, *[b"m"] * 9)
    bench.receive("orders", count=9)
    assert len(classes(bench)) == 1024 // size
    assert by_word(bench.queue().counts.lost) == {"acknowledgement": 9 - 1024 // size}


@pytest.mark.spec("DM-187")
def test_the_managers_quota_is_kept_by_the_acknowledgements_of_one_turn_together() -> None:
    bench = Bench("orders", "admin", "other", quota=1)
    bench.send("admin", bytes(500 - PACKET_HEADERS))
    ask(bench, b"m", administration_queue="", administration_queues=("admin", "other"))
    bench.receive("orders")
    assert (classes(bench)[-1], classes(bench, "other")) == (TAKEN, [])
    assert by_word(bench.queue().counts.lost) == {"acknowledgement": 1}
    assert bench.state.totals.bytes <= 1024


def test_a_queue_created_anew_has_nothing_to_do_with_the_old_one() -> None:
    bench = bench_with()
    fail(bench, "delete")
    bench.ask(CreateQueue(0, "orders"))
    assert classes(bench) == [MessageClass.NACK_QUEUE_DELETED]
    assert by_word(bench.queue().counts.lost) == {}

"""Tests batches from other managers: all their messages are taken, each into its queue, or none is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import SECOND
from reliquary.queueing.model.events import (
    AccessChange,
    BringOnline,
    ChangeAccess,
    FlowControl,
    StorePiece,
    TakeOffline,
)
from reliquary.queueing.model.facts import MessagesStored, QueueCreated
from reliquary.queueing.model.message import (
    HOP_LIMIT,
    NO_OBJECT,
    Acknowledgement,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
    SequenceId,
    StoredBody,
)
from reliquary.queueing.model.queue import QueuePrivacy
from reliquary.queueing.model.security.principals import ANONYMOUS, EVERYONE, MANAGER
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.queueing.model.travel.transfer import BatchArrived, BatchJudged, Outcome, QueuesWatched
from reliquary.queueing.rules import enqueue
from tests.queueing.answers import everything
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import NOON, message
from tests.queueing.state_checks import check, durable, walk

BATCH = UUID(int=9)


def bring(exchange: Exchange, *brought: tuple[str, Message], **options: Any) -> BatchJudged:
    """Return the answer to the carrier about a batch."""
    names, messages = tuple(name for name, _ in brought), tuple(each for _, each in brought)
    exchange.turns.clear()
    exchange.say(BatchArrived("manual_carrier", 5, names, messages, BATCH, **options))
    reported = next(
        each for each in reversed(exchange.manual_carrier.received) if isinstance(each, BatchJudged)
    )
    assert (reported.to, reported.ticket) == ("manual_carrier", 5)
    check(exchange.state)
    return reported


def test_a_batch_is_one_insert_in_its_order() -> None:
    exchange = Exchange()
    reported = bring(exchange, *[("orders", message(bytes([65 + place]))) for place in range(10)])
    assert reported == BatchJudged("manual_carrier", 5, Outcome.DELIVERED)
    assert b"".join(exchange.bodies()) == b"ABCDEFGHIJ"
    assert exchange.state.travel.taken == {"manual_carrier": 10}
    assert [type(fact) for fact in exchange.facts] == [MessagesStored]
    live = durable(exchange.state)
    exchange.restart(start=False)
    assert durable(exchange.state) == live


_unlike: dict[str, Any] = {
    "delivery": Delivery.EXPRESS,
    "time_to_be_received": 1000,
    "delay": 5 * SECOND,
    "acknowledgements": (Acknowledgement.FULL_RECEIVE,),
    "administration_queue": ELSEWHERE,
    "tracing_requested": True,
    "tracing_queue": UUID(int=5),
    "sequence": SequenceId(1, 2),
    "soap_envelope": "<a/>",
    "negative_journaling": True,
    "positive_journaling": True,
    "allow_peek_when_locked": True,
    "final_ack_required": True,
    "identifier": NO_OBJECT,
}
"""What some messages have and most have not."""
_unlikes = st.sets(st.sampled_from(sorted(_unlike)), max_size=3)
_brought = st.lists(
    st.tuples(st.integers(0, 7), st.one_of(st.just(set[str]()), _unlikes)), min_size=1, max_size=6
)


@given(_brought, st.booleans())
def test_a_plain_batch_is_put_into_its_queue_as_if_each_message_were_looked_at_alone(
    brought: list[tuple[int, set[str]]], watched: bool
) -> None:
    put_both_ways(brought, watched=watched)


@pytest.mark.parametrize(
    "names",
    [
        *({name} for name in sorted(_unlike)),
        {"soap_envelope", "final_ack_required"},
        {"sequence", "final_ack_required"},
        {"sequence", "positive_journaling"},
        {"sequence", "negative_journaling"},
        {"sequence", "soap_envelope", "negative_journaling"},
        {"acknowledgements", "administration_queue"},
        {"tracing_requested", "tracing_queue"},
    ],
)
def test_a_batch_that_is_not_plain_is_not_taken_for_one(names: set[str]) -> None:
    put_both_ways([(3, names)], watched=False)


def put_both_ways(brought: list[tuple[int, set[str]]], *, watched: bool) -> None:
    batch = [
        message(
            bytes([65 + place]),
            **{
                "identifier": ObjectId(UUID(int=7), 100 + place),
                "sent_time": NOON // SECOND,
                "priority": priority,
                **{name: _unlike[name] for name in names},
            },
        )
        for place, (priority, names) in enumerate(brought)
    ]
    results = []
    for usual_delivery in (Delivery.RECOVERABLE, None):  # with None no message counts as a usual one
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(enqueue, "RECOVERABLE", usual_delivery)
            exchange = Exchange()
            if watched:
                exchange.say(QueuesWatched("httpr", frozenset({exchange.queue("orders").number})))
            reported = bring(exchange, *[("orders", each) for each in batch])
            facts, heard = exchange.facts, exchange.manual_carrier.received
            results.append(
                (reported, facts, heard, everything(exchange.state), list(walk(exchange.queue("orders"))))
            )
    assert results[0] == results[1]


def test_messages_that_are_alike_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(enqueue, "position_in")
    exchange = Exchange()
    batch = [message(b"a", identifier=ObjectId(UUID(int=7), 5 + place)) for place in range(3)]
    assert bring(exchange, *[("orders", each) for each in batch]).outcome is Outcome.DELIVERED


def test_what_a_carrier_has_checked_is_not_checked_again() -> None:
    exchange = Exchange()
    odd = message(b"a", application_tag=-1)
    assert bring(exchange, ("orders", odd)).outcome is Outcome.REFUSED
    assert bring(exchange, ("orders", odd), checked=True).outcome is Outcome.DELIVERED


def test_a_batch_for_several_queues_keeps_the_order_in_each() -> None:
    exchange = Exchange(None, "orders", "bills")
    number = exchange.queue("bills").number
    private = f"PRIVATE={exchange.state.identity().identifier}\\{number:x}"
    names = ["bills", "orders", private, "orders", "private$\\bills"]
    reported = bring(exchange, *[(name, message(bytes([65 + place]))) for place, name in enumerate(names)])
    assert reported.outcome is Outcome.DELIVERED
    assert (exchange.bodies("orders"), exchange.bodies("bills")) == ([b"B", b"D"], [b"A", b"C", b"E"])
    assert len(exchange.facts) == 2


def test_a_transactional_queue_takes_a_batch_under_its_transaction() -> None:
    exchange = Exchange()
    exchange.create("strict", transactional=True)
    express = message(b"b", delivery=Delivery.EXPRESS, priority=7)
    reported = bring(exchange, ("strict", message(b"a")), ("strict", express), ("orders", express))
    assert reported.outcome is Outcome.DELIVERED
    stored = [exchange.state.messages.get(each) for each in walk(exchange.queue("strict"))]
    assert [(each.body, each.transaction, each.is_express) for each in stored] == [
        (b"a", BATCH, False),
        (b"b", BATCH, False),
    ]
    (plain,) = [exchange.state.messages.get(each) for each in walk(exchange.queue("orders"))]
    assert (plain.transaction, plain.is_express) == (None, True)


def test_what_goes_elsewhere_is_put_into_its_outgoing_queue_which_is_made() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    reported = bring(
        exchange, ("orders", message(b"a")), (ELSEWHERE, message(b"b")), (ELSEWHERE, message(b"c"))
    )
    assert reported.outcome is Outcome.DELIVERED
    stored = [exchange.state.messages.get(each) for each in walk(exchange.outgoing())]
    assert [(each.body, each.destination_queue) for each in stored] == [(b"b", ELSEWHERE), (b"c", ELSEWHERE)]
    bring(exchange, (ELSEWHERE, message(b"d", destination_queue="as it was written")))
    (_, _, last) = [exchange.state.messages.get(each) for each in walk(exchange.outgoing())]
    assert last.destination_queue == "as it was written"


REFUSED = [
    pytest.param("nowhere", {}, MessageClass.NACK_BAD_DEST_QUEUE, "nowhere", id="no queue"),
    pytest.param(
        "other\\private$\\orders", {}, MessageClass.NACK_BAD_DEST_QUEUE, "'other'", id="another's path name"
    ),
    pytest.param("DIRECT=", {}, MessageClass.NACK_BAD_DEST_QUEUE, "HTTPR", id="no name"),
    pytest.param(
        ELSEWHERE, {"hops": HOP_LIMIT}, MessageClass.NACK_HOP_COUNT_EXCEEDED, "more than", id="in a circle"
    ),
    pytest.param("MULTICAST=234.1.1.1:80", {}, MessageClass.NACK_BAD_DEST_QUEUE, "", id="multicast"),
    pytest.param("orders", {"label": "x" * 250}, MessageClass.NACK_BAD_DEST_QUEUE, "249", id="a label"),
    pytest.param("system$;deadletter", {}, MessageClass.NACK_ACCESS_DENIED, "", id="a system queue"),
    pytest.param("guarded", {}, MessageClass.NACK_ACCESS_DENIED, "WRITE_MESSAGE", id="no right"),
    pytest.param("signed", {}, MessageClass.NACK_BAD_SIGNATURE, "signed", id="no signature"),
    pytest.param("sealed", {}, MessageClass.NACK_BAD_ENCRYPTION, "sealed", id="not encrypted"),
    pytest.param(
        "orders", {"transaction": BATCH}, MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE, "orders", id="streams"
    ),
    pytest.param(
        "narrow", {"body": b"x" * 2000}, MessageClass.NACK_QUEUE_EXCEED_QUOTA, "1 kilobytes", id="no room"
    ),
]


@pytest.mark.parametrize(("name", "attributes", "reason", "why"), REFUSED)
def test_one_message_that_cannot_be_taken_stops_the_batch(
    name: str, attributes: dict[str, Any], reason: MessageClass, why: str
) -> None:
    exchange = Exchange()
    exchange.create("narrow", quota=1)
    exchange.create("signed", authentication=True)
    exchange.create("sealed", privacy=QueuePrivacy.BODY)
    exchange.create("guarded")
    exchange.ask(ChangeAccess(0, "guarded", AccessChange.DENY, EVERYONE, QueueRight.WRITE_MESSAGE))
    asks = {"acknowledgements": (Acknowledgement.FULL_REACH_QUEUE,), "administration_queue": "orders"}
    wrong = Message.of(**({"delivery": Delivery.RECOVERABLE} | asks | attributes))
    elsewhere = (ELSEWHERE, message(b"b"))
    reported = bring(exchange, ("orders", message(b"a")), elsewhere, (name, wrong), (name, wrong))
    assert (reported.outcome, reported.reason, reported.place) == (Outcome.REFUSED, reason, 2)
    assert why in reported.why
    assert reported.why
    assert exchange.facts == []  # no queue was created, and no sender gets a message
    assert exchange.bodies() == []


def test_the_sum_of_what_goes_into_a_queue_counts_against_its_quota() -> None:
    exchange = Exchange()
    exchange.create("narrow", quota=2)
    one = ("narrow", message(b"x" * 600))
    reported = bring(exchange, one, ("orders", message(b"a")), one, one)
    assert (reported.reason, reported.place) == (MessageClass.NACK_QUEUE_EXCEED_QUOTA, 3)
    assert exchange.facts == []
    assert bring(exchange, one, one).outcome is Outcome.DELIVERED


def test_the_managers_quota_counts_for_all_of_them() -> None:
    exchange = Exchange(None, "orders", "bills", quota=2)
    reported = bring(exchange, ("orders", message(b"x" * 900)), ("bills", message(b"x" * 900)))
    assert (reported.outcome, reported.reason, reported.place) == (
        Outcome.TRY_LATER, MessageClass.NACK_QUEUE_EXCEED_QUOTA, -1,
    )  # fmt: skip
    assert exchange.facts == []


def test_a_manager_that_is_throttled_offline_or_stopped_takes_none() -> None:
    exchange = Exchange()
    exchange.handle(FlowControl(throttled=True))
    reported = bring(exchange, ("orders", message(b"a")))
    assert (reported.outcome, reported.reason) == (Outcome.TRY_LATER, MessageClass.NACK_QUEUE_EXCEED_QUOTA)
    exchange.handle(FlowControl(throttled=False))
    exchange.ask(TakeOffline(0))
    reported = bring(exchange, ("orders", message(b"a")))
    assert (reported.outcome, reported.reason) == (Outcome.TRY_LATER, MessageClass.NORMAL)
    exchange.ask(BringOnline(0))
    exchange.stop()
    reported = bring(exchange, ("orders", message(b"a")))
    assert (reported.outcome, reported.reason) == (Outcome.TRY_LATER, MessageClass.NORMAL)
    assert "stopp" in reported.why


def test_the_manager_itself_may_put_anything_anywhere() -> None:
    exchange = Exchange()
    exchange.ask(ChangeAccess(0, "orders", AccessChange.DENY, EVERYONE, QueueRight.WRITE_MESSAGE))
    assert bring(exchange, ("orders", message(b"a")), by=ANONYMOUS).outcome is Outcome.REFUSED
    assert bring(exchange, ("orders", message(b"a")), by=MANAGER).outcome is Outcome.DELIVERED


@pytest.mark.spec("HR-113")
def test_a_message_whose_time_ran_out_on_the_way_is_left_out_and_the_others_are_taken() -> None:
    exchange = Exchange()
    exchange.create("narrow", quota=1)
    sent = NOON // SECOND - 10
    reported = bring(
        exchange,
        ("narrow", message(b"x" * 5000, sent_time=sent, time_to_be_received=5, negative_journaling=True)),
        ("narrow", message(b"a", sent_time=sent, time_to_be_received=50)),
        ("narrow", message(b"x" * 5000, sent_time=sent, time_to_reach_queue=5)),
        (ELSEWHERE, message(b"late", sent_time=sent, time_to_reach_queue=5)),
    )
    assert reported.outcome is Outcome.DELIVERED
    assert exchange.bodies("narrow") == [b"a"]
    assert not any(isinstance(fact, QueueCreated) for fact in exchange.facts)
    assert exchange.bodies("system$;deadletter") == []


def test_a_large_body_belongs_to_its_message_and_goes_with_one_that_is_late() -> None:
    exchange = Exchange()
    stored = [exchange.ask(StorePiece(0, 0, b"piece")) for _ in range(2)]
    kept, late = (StoredBody(each.spool, each.size, each.pieces) for each in stored)
    sent = NOON // SECOND - 10
    reported = bring(
        exchange,
        ("orders", message(stored_body=kept)),
        ("orders", message(stored_body=late, sent_time=sent, time_to_reach_queue=5)),
    )
    assert reported.outcome is Outcome.DELIVERED
    assert exchange.bodies() == [b"piece"]
    assert exchange.state.messages.bodies.loose == {}


def test_a_large_body_that_is_not_there_stops_the_batch() -> None:
    exchange = Exchange()
    wrong = message(stored_body=StoredBody(77, 5, 1))
    reported = bring(exchange, ("orders", message(b"a")), ("orders", wrong))
    assert (reported.outcome, reported.reason) == (Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE)
    assert "77" in reported.why
    assert exchange.bodies() == []


def test_a_sender_that_requests_acknowledgements_gets_one_when_the_message_arrives() -> None:
    exchange = Exchange(None, "orders", "news")
    administration = "DIRECT=OS:.\\private$\\news"
    asks = message(b"a", acknowledgements=(Acknowledgement.POS_ARRIVAL,), administration_queue=administration)
    assert bring(exchange, ("orders", asks), ("orders", message(b"b"))).outcome is Outcome.DELIVERED
    (acknowledgement,) = walk(exchange.queue("news"))
    assert exchange.state.messages.get(acknowledgement).message_class == MessageClass.ACK_REACH_QUEUE


def test_an_empty_batch_is_taken() -> None:
    exchange = Exchange()
    assert bring(exchange).outcome is Outcome.DELIVERED
    assert exchange.facts == []

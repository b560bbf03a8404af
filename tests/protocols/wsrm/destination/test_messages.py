"""Tests messages of sequences: taken, buffered, dropped, refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    LAST_NUMBER,
    CreateSequence,
    Dialect,
    Fault,
    Incomplete,
    Offer,
    Payload,
    Properties,
    Reference,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.destination import creation
from reliquary.protocols.wsrm.settings import Assurance
from reliquary.protocols.wsrm.state import Count
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.model.travel.transfer import Outcome
from reliquary.wire.security import Sid
from tests.protocols.wsrm.destination.rmd import ANONYMOUS, Rmd, message, numbered

RM10 = Dialect(version=Version.RM10)
FULL = (Outcome.REFUSED, MessageClass.NACK_QUEUE_EXCEED_QUOTA, 0, "full")


@pytest.mark.spec("FC-001", "FC-002")
@pytest.mark.parametrize("assurance", Assurance)
def test_messages_are_delivered_once_and_in_order(assurance: Assurance) -> None:
    rmd = Rmd(assurance=assurance)
    sequence = rmd.create()
    got = rmd.send(sequence, 1, 2, 3, 2)
    assert rmd.bodies == numbered(1, 2, 3)
    assert got is not None
    assert got.ranges == ((1, 3),)
    assert not got.final


def test_an_acknowledgement_waits_for_the_disk() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1)
    assert rmd.waits
    rmd.send(sequence, 1)
    assert rmd.waits, "a duplicate may be acknowledged before the first sync"


def test_a_message_costs_one_fact_and_one_batch() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 1)
    facts, batches = len(rmd.facts), len(rmd.batches)
    rmd.send(sequence, 2)
    assert len(rmd.facts) == facts + 1
    assert len(rmd.batches) == batches + 1


def test_a_gap_is_filled_and_all_behind_it_are_one_batch() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    got = rmd.send(sequence, 1, 3, 4, 6)
    assert rmd.bodies == numbered(1)
    assert got is not None
    assert got.ranges == ((1, 1), (3, 4), (6, 6))
    got = rmd.send(sequence, 2)
    assert got is not None
    assert got.ranges == ((1, 4), (6, 6))
    assert rmd.bodies == numbered(1, 2, 3, 4)
    assert [len(batch.messages) for batch in rmd.batches] == [1, 3]
    assert sorted(rmd.sequence(sequence).buffered) == [6]


def test_an_unordered_endpoint_delivers_at_once() -> None:
    rmd = Rmd(ordered=False)
    sequence = rmd.create()
    got = rmd.send(sequence, 3, 1, 5)
    assert rmd.bodies == numbered(3, 1, 5)
    assert got is not None
    assert got.ranges == ((1, 1), (3, 3), (5, 5))


def test_an_unordered_message_may_be_far_ahead_but_not_without_limit() -> None:
    rmd = Rmd(ordered=False)
    sequence = rmd.create()
    rmd.send(sequence, 4096)
    rmd.send(sequence, 4097)
    assert rmd.bodies == numbered(4096)


@pytest.mark.parametrize("incomplete", Incomplete)
@pytest.mark.parametrize("ordered", [True, False])
@given(st.permutations(list(range(1, 8))), st.lists(st.integers(1, 7), max_size=6))
def test_every_order_of_arrival_delivers_each_message_once(
    ordered: bool, incomplete: Incomplete, order: list[int], again: list[int]
) -> None:
    rmd = Rmd(ordered=ordered, incomplete=incomplete)
    sequence = rmd.create(dialect=RM10)
    for number in [*order, *again]:
        rmd.send(sequence, number, last=number == 7)
    keeps_order = ordered or incomplete is not Incomplete.NO_DISCARD
    assert rmd.bodies == (numbered(*range(1, 8)) if keeps_order else numbered(*order))
    assert rmd.sequence(sequence).received.ranges == ((1, 7),)
    assert rmd.state.counts[Count.DUPLICATES] == len(again)


@pytest.mark.wsrm("T19")
def test_a_duplicate_is_acknowledged_again_without_a_fault_and_counts_once() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.create()
    first = rmd.send(sequence, 1)
    again = rmd.send(sequence, 1)
    assert first == again
    assert again is not None
    assert again.buffer == 7
    assert rmd.state.counts[Count.DUPLICATES] == 1
    (dropped,) = rmd.duplicates
    assert (dropped.carrier, dropped.destination, dropped.batch) == ("wsrm", "orders", "1:1")
    assert dropped.identifiers == (rmd.queues["orders"][0].identifier,)
    assert rmd.sequence(sequence).duplicates == 1


def test_a_buffered_message_that_comes_again_is_a_duplicate() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.send(sequence, 2, 2, 1)
    assert rmd.bodies == numbered(1, 2)
    assert rmd.state.counts[Count.DUPLICATES] == 1


def test_messages_without_a_message_id_have_identifiers_of_their_own() -> None:
    rmd = Rmd()
    one, other = rmd.create(), rmd.create()
    rmd.send(one, 1, 2)
    rmd.send(other, 1)
    assert len({each.identifier for each in rmd.queues["orders"]}) == 3


def test_each_batch_has_a_transaction_of_its_own() -> None:
    rmd = Rmd()
    one, other = rmd.create(), rmd.create()
    rmd.send(one, 1, 2)
    rmd.send(other, 1)
    assert len({batch.transaction for batch in rmd.batches}) == 3


# -- refusals


def test_an_unknown_sequence_is_refused() -> None:
    rmd = Rmd()
    assert rmd.fault(message("urn:nothing", 1)) == (FaultCode.UNKNOWN_SEQUENCE, ())
    assert rmd.fault(message("x" * 100_000, 1)) == (FaultCode.UNKNOWN_SEQUENCE, ())


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(0, FaultCode.SENDER, id="zero"),
        pytest.param(-1, FaultCode.SENDER, id="negative"),
        pytest.param(LAST_NUMBER + 1, FaultCode.MESSAGE_NUMBER_ROLLOVER, id="too large"),
    ],
)
def test_a_number_outside_the_range_is_refused(number: int, code: FaultCode) -> None:
    rmd = Rmd()
    assert rmd.fault(message(rmd.create(), number)) == (code, ())


def test_the_highest_number_is_too_far_ahead_but_no_rollover() -> None:
    rmd = Rmd()
    got = rmd.send(rmd.create(), LAST_NUMBER)
    assert got is not None
    assert got.ranges == ()


def test_only_the_creator_may_use_a_sequence() -> None:
    rmd = Rmd()
    alice, bob = Principal(Sid(5, (21, 1))), Principal(Sid(5, (21, 2)))
    sequence = rmd.create(by=alice)
    assert rmd.fault(message(sequence, 1), by=bob)[0] is FaultCode.UNKNOWN_SEQUENCE
    assert rmd.fault(message(sequence, 1))[0] is FaultCode.UNKNOWN_SEQUENCE
    assert rmd.post(message(sequence, 1), by=alice) is not None
    assert rmd.batches[0].by is alice


def test_a_sequence_is_known_only_at_its_endpoint() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    assert rmd.fault(message(sequence, 1), endpoint="other")[0] is FaultCode.UNKNOWN_SEQUENCE


def test_a_message_outside_the_ranges_of_the_queue_manager_is_refused() -> None:
    rmd = Rmd()
    assert rmd.fault(message(rmd.create(), 1, properties=Properties(priority=9)))[0] is FaultCode.SENDER


@pytest.mark.parametrize(
    "body", [CreateSequence(ANONYMOUS), TerminateSequence("urn:a"), Fault(FaultCode.SENDER)]
)
def test_a_message_of_ws_rm_has_no_place_in_a_sequence(body: Any) -> None:
    rmd = Rmd()
    assert rmd.fault(message(rmd.create(), 1, body=body))[0] is FaultCode.SENDER


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (MessageClass.NACK_BAD_DEST_QUEUE, FaultCode.UNREACHABLE),
        (MessageClass.NACK_ACCESS_DENIED, FaultCode.SENDER),
    ],
    ids=["no queue", "access denied"],
)
def test_a_permanent_refusal_of_the_manager_is_a_fault_and_the_message_may_come_again(
    reason: MessageClass, code: FaultCode
) -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.verdict = (Outcome.REFUSED, reason, 0, "no")
    assert rmd.fault(message(sequence, 1))[0] is code
    rmd.verdict = None
    assert rmd.send(sequence, 1) is not None
    assert rmd.bodies == numbered(1)


@pytest.mark.parametrize(
    "verdict",
    [
        pytest.param(FULL, id="the queue is full"),
        pytest.param((Outcome.TRY_LATER, MessageClass.NORMAL, -1, "not ready"), id="not ready"),
    ],
)
def test_what_the_queue_manager_cannot_take_now_is_dropped_and_not_acknowledged(verdict: Any) -> None:
    rmd = Rmd()
    sequence = rmd.create()
    rmd.verdict = verdict
    got = rmd.send(sequence, 1)
    assert got is not None
    assert got.ranges == ()
    assert rmd.state.counts[Count.NO_ROOM] == 1
    rmd.verdict = None
    got = rmd.send(sequence, 1)
    assert got is not None
    assert got.ranges == ((1, 1),)


# -- room


@pytest.mark.wsrm("T26")
def test_a_message_without_room_is_dropped_and_taken_when_it_comes_again() -> None:
    rmd = Rmd(bounded=True, window=2)
    sequence = rmd.create()
    got = rmd.send(sequence, 1, 2, 3)
    assert got is not None
    assert (got.ranges, got.buffer) == (((1, 2),), 0)
    assert rmd.state.counts[Count.NO_ROOM] == 1
    assert rmd.sequence(sequence).dropped == 1
    rmd.read()
    got = rmd.send(sequence, 3)
    assert got is not None
    assert (got.ranges, got.buffer) == (((1, 3),), 0)


def test_a_number_beyond_the_window_is_dropped() -> None:
    rmd = Rmd(window=4)
    sequence = rmd.create()
    got = rmd.send(sequence, 4, 5)
    assert got is not None
    assert got.ranges == ((4, 4),)
    rmd.send(sequence, 1)
    got = rmd.send(sequence, 5)
    assert got is not None
    assert got.ranges == ((1, 1), (4, 5))


def test_the_window_keeps_a_place_for_every_message_that_is_missing() -> None:
    rmd = Rmd(bounded=True, window=8)
    sequence = rmd.create()
    rmd.send(sequence, *range(2, 9))
    got = rmd.send(sequence, 1)
    assert got is not None
    assert (got.ranges, got.buffer) == (((1, 8),), 0)
    assert rmd.bodies == numbered(*range(1, 9))


# -- the last message of WS-RM 1.0


LAST = "http://schemas.xmlsoap.org/ws/2005/02/rm/LastMessage"


def test_an_empty_last_message_is_acknowledged_and_not_delivered() -> None:
    rmd = Rmd()
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 1)
    got = rmd.send(sequence, 2, last=True, action=LAST, body=Payload(), dialect=RM10)
    assert got is not None
    assert got.ranges == ((1, 2),)
    assert rmd.bodies == numbered(1)


def test_an_empty_last_message_that_comes_early_keeps_nothing_waiting() -> None:
    rmd = Rmd()
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 3, last=True, action=LAST, body=Payload(), dialect=RM10)
    rmd.send(sequence, 2)
    got = rmd.send(sequence, 1)
    assert got is not None
    assert got.ranges == ((1, 3),)
    assert rmd.bodies == numbered(1, 2)


def test_a_last_message_with_a_body_is_delivered() -> None:
    rmd = Rmd()
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 1, last=True, dialect=RM10)
    assert rmd.bodies == numbered(1)
    assert rmd.sequence(sequence).received.last == 1


def test_a_number_behind_the_last_one_is_refused() -> None:
    rmd = Rmd()
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 2, last=True, dialect=RM10)
    assert rmd.fault(message(sequence, 3, dialect=RM10))[0] is FaultCode.LAST_NUMBER_EXCEEDED
    assert rmd.fault(message(sequence, 1, last=True, dialect=RM10))[0] is FaultCode.LAST_NUMBER_EXCEEDED
    rmd.send(sequence, 1)
    assert rmd.bodies == numbered(1, 2)


def test_a_last_message_below_a_received_number_is_refused() -> None:
    rmd = Rmd()
    sequence = rmd.create(dialect=RM10)
    rmd.send(sequence, 3)
    assert rmd.fault(message(sequence, 2, last=True, dialect=RM10))[0] is FaultCode.LAST_NUMBER_EXCEEDED


# -- replies


def test_a_request_of_a_client_with_an_offer_waits_for_its_reply() -> None:
    rmd = Rmd()
    sequence = rmd.create(offer=Offer("urn:offer"))
    rmd.turn(lambda: creation.pair(rmd.state, 1, 9))
    rmd.post(message(sequence, 1, message_id="urn:uuid:00000000-0000-4000-8000-000000000007"))
    assert rmd.exchange.reply_to == 9
    assert rmd.queues["orders"][0].response_queue == "DIRECT=WSRM://anonymous.invalid/urn%3Aoffer"
    rmd.post(message(sequence, 1, message_id="urn:uuid:00000000-0000-4000-8000-000000000007"))
    assert rmd.exchange.reply_to == 9, "a lost reply is sent again"
    rmd.post(message(sequence, 2))
    assert rmd.exchange.reply_to == 0, "a message without MessageID has no reply"


def test_a_message_that_was_dropped_waits_for_no_reply() -> None:
    rmd = Rmd(bounded=True, window=1)
    sequence = rmd.create(offer=Offer("urn:offer"))
    rmd.turn(lambda: creation.pair(rmd.state, 1, 9))
    rmd.send(sequence, 1)
    rmd.post(message(sequence, 2, message_id="urn:uuid:00000000-0000-4000-8000-000000000007"))
    assert rmd.exchange.reply_to == 0


def test_the_message_id_of_a_request_is_kept_where_it_cannot_be_derived() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    reply_to = Reference("http://client.example/replies")
    rmd.post(message(sequence, 1, message_id="order 7", reply_to=reply_to))
    rmd.post(message(sequence, 2, message_id="order 8"))
    identifier = rmd.queues["orders"][0].identifier
    assert rmd.here.requests == {identifier: "order 7"}
    rmd.restart()
    assert rmd.here.requests == {identifier: "order 7"}

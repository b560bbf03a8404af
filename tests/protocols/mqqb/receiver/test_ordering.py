"""Tests order and final acknowledgements of this manager."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.receiver.ordering import REPORTED, brought, mark_of
from reliquary.queueing.model.message import Message, MessageClass, SequenceId
from reliquary.queueing.rules.acknowledge import ANSWERS, FINAL
from tests.protocols.mqqb.mqqb_harness import MqqbBench

LEDGER = "TCP:10.0.0.2\\private$\\ledger"


def test_only_messages_that_came_in_a_stream_are_its_own() -> None:
    ours = Message.of(sequence=SequenceId(1, 1), transaction_status_queue=mark_of("10.0.0.1"))
    assert brought(ours)
    assert not brought(Message.of(sequence=SequenceId(1, 1), transaction_status_queue="http://x"))
    assert not brought(Message.of(transaction_status_queue=mark_of("10.0.0.1")))


@pytest.mark.spec("QB-306", "QB-308")
def test_every_end_in_a_queue_is_reported() -> None:
    ends = {
        each for each in MessageClass if ANSWERS[each] & FINAL and each >= MessageClass.NACK_QUEUE_DELETED
    }
    at_sender = {MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER}
    assert ends - at_sender <= REPORTED
    assert MessageClass.ACK_RECEIVE in REPORTED


def test_an_acknowledgement_without_a_session_dials_its_sender_only_three_times() -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    peer.user(b"1", to=LEDGER, stream=(1, 0))
    peer.lose()
    bench.advance(1)
    bench.fail_dial()
    for _ in range(10):
        bench.advance(31)
        if bench.mqqb.sessions:
            bench.fail_dial()
    assert len(bench.dials) == 3
    again = bench.accepted("10.0.0.44")
    assert [each.body.number for each in again.order_acks] == [1]


def test_an_order_acknowledgement_waits_for_the_refusal_it_would_hide() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"1", to="TCP:10.0.0.2\\private$\\nowhere", stream=(1, 0))
    bench.advance(5)
    assert len(peer.final_acks) == 1
    assert peer.order_acks == []
    peer.ack_all()
    bench.advance(1)
    assert len(peer.order_acks) == 1


def test_the_wait_of_an_order_acknowledgement_is_limited() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"1", to="TCP:10.0.0.2\\private$\\nowhere", stream=(1, 0))
    bench.advance(12)
    assert len(peer.order_acks) == 1


@pytest.mark.mqqb("T-76")
@pytest.mark.spec("QB-131")
def test_an_order_acknowledgement_does_not_overtake_a_refusal_that_waits_on_a_broken_session() -> None:
    """Seed 410095 of srmp+mqqb: the sender took the refused message for a delivered one."""
    bench = MqqbBench()
    silent = bench.accepted()
    silent.user(b"1", to="TCP:10.0.0.2\\private$\\nowhere", stream=(1, 0))
    assert len(silent.final_acks) == 1
    peer = bench.accepted()  # the connection broke, and only the sender noticed it
    bench.advance(39)
    assert (peer.final_acks, peer.order_acks) == ([], [])
    bench.advance(8)  # the silent session is closed, and the refusal is sent on the other one
    assert silent.hung_up
    assert (len(peer.final_acks), peer.order_acks) == (1, [])
    peer.ack_all()
    bench.advance(1)
    assert [each.body.number for each in peer.order_acks] == [1]


@pytest.mark.parametrize("crash", [False, True], ids=["stopped", "killed"])
def test_an_order_acknowledgement_waits_for_refusals_also_after_a_restart(crash: bool) -> None:
    """The refusal waits in an outgoing queue on disk; the order acknowledgement is made anew."""
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"1", to="TCP:10.0.0.2\\private$\\nowhere", stream=(1, 0))
    bench.flush()
    bench.restart(crash=crash)
    bench.advance(20)  # longer than it waits in a session
    again = bench.accepted()
    bench.advance(5)
    assert (len(again.final_acks), again.order_acks) == (1, [])
    again.ack_all()
    bench.advance(1)
    assert [each.body.number for each in again.order_acks] == [1]


def test_a_sender_that_connects_late_gets_the_refusal_first() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"1", to="TCP:10.0.0.2\\private$\\nowhere", stream=(1, 0))
    peer.lose()
    bench.advance(3600)
    again = bench.accepted()
    bench.advance(2)
    assert (len(again.final_acks), again.order_acks) == (1, [])
    again.ack_all()
    bench.advance(1)
    assert len(again.order_acks) == 1

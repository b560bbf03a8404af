"""Tests which facts count when a crash lost a turn, and which removals end a message."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.time import Instant
from reliquary.base.turn import Event
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.sim.history import History, Sending, Turned, Violation
from reliquary.sim.world.promises import Arrival, Deliveries, check_order, stated
from reliquary.sim.world.register import Register
from tests.sim.written_history import ORDERS, OTHER, message, position, queue


def test_a_removal_that_was_lost_removes_only_express_messages() -> None:
    """Seed 12135: an express acknowledgement of the purge was read before the crash."""
    express, recoverable = Position(1, 1, 9, 0, express=True), Position(2, 2, 9, 0)
    purged = facts.PositionsRemoved(7, (express, recoverable), MessageClass.NACK_PURGED)
    history = History()
    for lost in (False, True):
        history.turns.append(Turned(1, 1, 1, Event(), (purged,), (), Instant(0), lost=lost))
    kept, left = [fact for _, fact in stated(history)]
    assert kept == purged
    assert left == facts.PositionsRemoved(7, (express,), MessageClass.NACK_PURGED)


def test_a_message_that_came_as_a_dead_letter_does_not_end_when_that_is_read() -> None:
    """Seed 30255 of `srmp+mqqp+mqqb`: the first copy was purged, and the second one came to a full queue."""
    first, refused = position(1), position(2, reason=MessageClass.NACK_QUEUE_EXCEED_QUOTA)
    again = (message(b"m1"),)
    history = History()
    for fact in (
        facts.QueueCreated(queue(ORDERS)),
        facts.QueueCreated(queue(OTHER)),
        facts.MessagesStored(ORDERS, (first,), again),
        facts.PositionsRemoved(ORDERS, (first,), MessageClass.NACK_QUEUE_PURGED),
        facts.MessagesStored(OTHER, (refused,), again),
        facts.PositionsRemoved(OTHER, (refused,), MessageClass.ACK_RECEIVE),
    ):
        history.turns.append(Turned(1, 1, 1, Event(), (fact,), (), Instant(0)))
    register = Register(())
    witness: Any = SimpleNamespace(history=history)
    register.sites["here"] = witness
    deliveries = Deliveries(register)
    assert len(deliveries.arrivals[b"m1"]) == 1
    assert deliveries.ever_ended("here", b"m1") == {MessageClass.NACK_QUEUE_PURGED}


def ordered(*bodies: bytes, taken: bytes = b"") -> None:
    """Check the order of messages of one stream that come one after another; a restore took one of them."""
    sendings = {
        body: Sending(body, "", "sender", int(body[1:]), "there", 3, False, 0, transaction=UUID(int=1))
        for body in bodies
    }
    turned = Turned(1, 1, 1, Event(), (), (), Instant(0))
    arrivals = [Arrival("b", turned, queue(ORDERS), position(1), message(body)) for body in bodies]
    plugin: Any = SimpleNamespace(ordered_stream=lambda *_: "stream", may_be_late=lambda _: False)
    register: Any = SimpleNamespace(sites=["b"], sendings=sendings, chains={}, plugin_for=lambda _: plugin)
    deliveries: Any = SimpleNamespace(at=lambda _: arrivals, was_taken_by_restore=lambda body: body == taken)
    check_order(register, deliveries, plugin)


def test_a_message_after_a_later_one_of_its_stream_is_out_of_order() -> None:
    ordered(b"m1", b"m2", b"m3")
    with pytest.raises(Violation, match="order: m1 came to b"):
        ordered(b"m2", b"m1")


def test_a_copy_of_a_message_that_a_restore_took_may_come_after_later_ones() -> None:
    """Seed 50200 of `srmp+mqqb`: its request was on the way when the sender was restored."""
    ordered(b"m2", b"m1", b"m3", taken=b"m1")
    with pytest.raises(Violation, match="order: m2 came to b"):
        ordered(b"m3", b"m1", b"m2", taken=b"m1")

"""What counts as stated when a crash took a turn."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Event
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.sim.history import History, Turned
from reliquary.sim.world.promises import stated


def test_of_a_removal_that_was_lost_only_express_messages_are_gone() -> None:
    """Seed 12135: an express acknowledgement of the purge was read before the crash."""
    express, recoverable = Position(1, 1, 9, 0, express=True), Position(2, 2, 9, 0)
    purged = facts.PositionsRemoved(7, (express, recoverable), MessageClass.NACK_PURGED)
    history = History()
    for lost in (False, True):
        history.turns.append(Turned(1, 1, 1, Event(), (purged,), (), Instant(0), lost=lost))
    kept, left = [fact for _, fact in stated(history)]
    assert kept == purged
    assert left == facts.PositionsRemoved(7, (express,), MessageClass.NACK_PURGED)

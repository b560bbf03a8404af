"""Facts say whether a crash may lose them."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.turn import Fact, Signal
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.tables import Outcome, PreparedTransaction

KEPT, EXPRESS = Position(1, 1, 100, 0), Position(2, 2, 100, 0, express=True)
REASON = MessageClass.ACK_RECEIVE


def about(position: Position) -> list[Fact]:
    """Return every fact that names a position of a message."""
    return [
        facts.MessagesStored(1, (position,), (Message(),)),
        facts.PositionCopied(1, position),
        facts.PositionMoved(1, 2, position, REASON),
        facts.PositionsRemoved(1, (position,), REASON),
    ]


def names(some: list[Fact]) -> list[str]:
    return [type(fact).__name__ for fact in some]


@pytest.mark.spec("DM-047")
@pytest.mark.parametrize("fact", about(KEPT), ids=names(about(KEPT)))
def test_what_is_said_of_a_recoverable_message_must_reach_the_disk(fact: Fact) -> None:
    assert not fact.volatile


@pytest.mark.spec("DM-046")
@pytest.mark.parametrize("fact", about(EXPRESS), ids=names(about(EXPRESS)))
def test_what_is_said_of_an_express_message_may_be_forgotten(fact: Fact) -> None:
    assert fact.volatile


@pytest.mark.spec("DM-047")
@pytest.mark.parametrize("positions", [(KEPT, EXPRESS), (EXPRESS, KEPT)])
def test_one_recoverable_message_among_express_ones_makes_the_fact_durable(
    positions: tuple[Position, ...],
) -> None:
    assert not facts.MessagesStored(1, positions, (Message(), Message())).volatile
    assert not facts.PositionsRemoved(1, positions, REASON).volatile


def test_queues_and_transactions_are_never_forgotten() -> None:
    assert not facts.QueueDeleted(1).volatile
    assert not facts.TransactionEnded(UUID(int=1), Outcome(committed=True, ended=1)).volatile
    prepared = facts.TransactionPrepared(UUID(int=1), PreparedTransaction((), True, 0), ())
    assert not prepared.volatile
    assert not facts.PreparedMessageDropped(1, KEPT).volatile


def test_signals_are_reported_and_not_kept() -> None:
    for signal in (facts.PositionAvailable, facts.PositionDeleted):
        assert issubclass(signal, Signal)
        assert not issubclass(signal, Fact)

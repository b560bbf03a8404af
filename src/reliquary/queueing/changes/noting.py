"""Note events for the history that belong to no fact, because they change no durable state."""

from __future__ import annotations

from collections.abc import Sequence

from reliquary.queueing.model.history.notes import API, NO_INITIATOR, Initiator
from reliquary.queueing.model.message import MessageClass, ObjectId, Position
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.wire.history import HistoryEvent


def note_reported(
    state: State,
    event: HistoryEvent,
    queue: QueueState,
    positions: Sequence[Position],
    reason: MessageClass = MessageClass.NORMAL,
) -> None:
    """Note an event of positions that their carrier reported and that no fact records."""
    if state.history is not None and positions:
        state.history.notes.note_positions(
            event, queue.record, positions, reason, carrier_of(queue, state.turn.initiator)
        )


def note_unstored(
    state: State,
    event: HistoryEvent,
    destination: str,
    identifiers: Sequence[ObjectId],
    reason: MessageClass = MessageClass.NORMAL,
) -> None:
    """Note messages that were not put into a queue; `destination` is the name that they had."""
    if state.history is not None:
        state.history.notes.note_unnumbered(
            event, None, identifiers, reason, state.turn.initiator, destination
        )


# -- the origin of an event


def carrier_of(queue: QueueState, initiator: Initiator = NO_INITIATOR) -> Initiator:
    """Return the origin of a removal: the carrier of an outgoing queue, else the source of the turn."""
    link = queue.link
    if link is None or initiator.by not in ("", API.by):
        return initiator
    assert queue.record.outgoing is not None
    label = ""
    if link.carrier is not None:
        label = link.carrier.label(parse_single(queue.record.outgoing.destination))
    peer = link.next_hops[0] if link.next_hops else ""
    return Initiator(label, peer if peer != label else "")

"""Notes for the history about what is no fact, because nothing that is kept changes."""

from __future__ import annotations

from collections.abc import Sequence

from reliquary.queueing.model.history.notes import API, NOBODY, Bringer
from reliquary.queueing.model.message import MessageClass, ObjectId, Position
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.wire.history import Happening


def noted(
    state: State,
    happening: Happening,
    queue: QueueState,
    positions: Sequence[Position],
    reason: MessageClass = MessageClass.NORMAL,
) -> None:
    """Note what happened to positions without any fact: their carrier reported it."""
    if state.history is not None and positions:
        state.history.notes.note_positions(
            happening, queue.record, positions, reason, carrier_of(queue, state.turn.bringer)
        )


def heard(
    state: State,
    happening: Happening,
    destination: str,
    identifiers: Sequence[ObjectId],
    reason: MessageClass = MessageClass.NORMAL,
) -> None:
    """Note messages that did not get into a queue; `destination` is the name that they gave."""
    if state.history is not None:
        state.history.notes.note_unnumbered(
            happening, None, identifiers, reason, state.turn.bringer, destination
        )


# -- who does it


def carrier_of(queue: QueueState, bringer: Bringer = NOBODY) -> Bringer:
    """Return who takes messages from a queue: the carrier of an outgoing one, else the source of the turn."""
    link = queue.link
    if link is None or bringer.by not in ("", API.by):
        return bringer
    assert queue.record.outgoing is not None
    label = ""
    if link.carrier is not None:
        label = link.carrier.label(parse_single(queue.record.outgoing.destination))
    peer = link.next_hops[0] if link.next_hops else ""
    return Bringer(label, peer if peer != label else "")

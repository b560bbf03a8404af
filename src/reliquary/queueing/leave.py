"""Message Position Deleted, [MS-MQDMPR] 3.1.7.2.1: how a message leaves a queue.

    received                      -> the queue's journal, when it keeps one
    expired, purged, deleted ...  -> a dead-letter queue, when the message asked for it
    otherwise                     -> nowhere

A journal or dead-letter copy is the same message at another place: one move, no second body.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing import facts
from reliquary.queueing.apply import apply
from reliquary.queueing.message import Message, MessageClass, Position
from reliquary.queueing.queue import QueueType, exceeds
from reliquary.queueing.state import QueueState, State
from reliquary.queueing.tables import SEQUENCE_MASK


def leave(state: State, queue: QueueState, positions: Sequence[Position], reason: MessageClass) -> None:
    """Take positions out of their queue for this reason (DM-286, DM-287)."""
    gone = []
    for position in positions:
        refuge = _refuge(state, queue, position, reason)
        if refuge is None:
            gone.append(position)
        else:
            kept = msgspec.structs.replace(
                position, reason=reason, origin=queue.number, expires=0, dead_letter=False
            )
            apply(state, facts.PositionMoved(queue.number, refuge.number, kept, reason))
    if gone:
        apply(state, facts.PositionsRemoved(queue.number, tuple(gone), reason))
    if facts.PositionDeleted in state.heard:
        for position in positions:
            state.draft.tell(facts.PositionDeleted(queue.number, position, reason))


def _refuge(state: State, queue: QueueState, position: Position, reason: MessageClass) -> QueueState | None:
    """Where the message is kept now, if anywhere."""
    if reason is MessageClass.ACK_RECEIVE:
        journal = state.queues.get(queue.record.journal or 0)  # gone before its queue, in a delete
        if not queue.record.settings.journaling or journal is None:
            return None
        return journal if _has_room(state, journal, queue.record.settings.journal_quota, position) else None
    if not position.dead_letter or not reason.is_failure:
        return None
    return _dead_letter_queue(state, state.shelf.get(position), position)


def bury(state: State, message: Message, position: Position, reason: MessageClass) -> None:
    """A message that never got into its queue is kept only where it asked for that (DM-050)."""
    refuge = _dead_letter_queue(state, message, position) if message.negative_journaling else None
    if refuge is not None:
        kept = msgspec.structs.replace(position, reason=reason, expires=0, dead_letter=False)
        apply(state, facts.MessagesStored(refuge.number, (kept,), (message,)))


def _dead_letter_queue(state: State, message: Message, position: Position) -> QueueState | None:
    """Where a failed message goes that asked for negative journaling (DM-050, DM-051)."""
    target = _application_queue(state, message)
    if target is None:
        target = state.system_queue("deadxact" if message.transaction else "deadletter")
    return target if _has_room(state, target, target.record.settings.quota, position) else None


def _application_queue(state: State, message: Message) -> QueueState | None:
    """The queue that the message itself names; an unusable name counts as none."""
    if not message.application_deadletter_queue:
        return None
    try:
        target = state.find(state.parse(message.application_deadletter_queue))
    except UsageError:
        return None
    usable = (
        target is not None
        and target.record.kind is not QueueType.SYSTEM
        and target.record.settings.transactional == (message.transaction is not None)
    )
    return target if usable else None


def _has_room(state: State, target: QueueState, quota: int, position: Position) -> bool:
    """A copy for which there is no room is not kept (DM-049, DM-050, AN-42), and is counted."""
    fits = not exceeds(quota, target.total_bytes + position.size)
    state.journal_overflows += not fits
    return fits


def copy_to_system_journal(state: State, position: Position) -> None:
    """PositiveJournalingRequested: keep a copy of what was delivered (DM-049)."""
    journal = state.system_queue("journal")
    # A LookupIdentifier of its own: both positions may be moved into one queue some day (AN-13).
    lane, sequence = position.lookup_id & ~SEQUENCE_MASK, state.next_sequence() & SEQUENCE_MASK
    kept = msgspec.structs.replace(
        position,
        lookup_id=lane | sequence,
        reason=MessageClass.ACK_REACH_QUEUE,
        expires=0,
        dead_letter=False,
    )
    apply(state, facts.PositionCopied(journal.number, kept))


def journal_has_room(state: State, size: int) -> bool:
    """Whether the system journal can take a message of this size."""
    journal = state.system_queue("journal")
    fits = not exceeds(state.identity().journal_quota, journal.total_bytes + size)
    state.journal_overflows += not fits
    return fits

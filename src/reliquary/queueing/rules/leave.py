"""Removes messages from a queue, and keeps the copies that they request: [MS-MQDMPR] 3.1.7.2.1.

    received                      -> the queue's journal, if the queue has journaling on
    expired, purged, deleted ...  -> a dead-letter queue, if the message asked for it
    sent to another manager       -> the system journal, if the message asked for it
    otherwise                     -> removed

The specification calls this event Message Position Deleted.  A journal or dead-letter copy is made by a move
of the position, so the body is not written again.  Acknowledgements are sent at the end of the turn (`news`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.parts.turn import Owed
from reliquary.queueing.model.queue import QueueType, exceeds
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import SEQUENCE_MASK, Copy
from reliquary.queueing.model.travel.transfer import MessageWithdrawn
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.acknowledge import ANSWERS, AT_THE_SOURCE, JOURNALED
from reliquary.queueing.rules.losses import lose

_RECEIVED: Final = MessageClass.ACK_RECEIVE
ALWAYS_KEPT: Final = frozenset({MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED})
"""A message that fails for one of these reasons is kept as a dead letter, also if its sender wants none.

It is not known whether it was delivered before the store was restored (`era`); an administrator decides.
"""


def leave(
    state: State,
    queue: QueueState,
    positions: Sequence[Position],
    reason: MessageClass,
    *,
    carried: bool = False,
    acknowledged: bool = False,
) -> None:
    """Remove positions from their queue for this reason (DM-286, DM-287).

    A message leaves an outgoing queue with AckReachQueue when the next manager has it.
    `carried`: the carrier of the outgoing queue asks for this, so it needs no signal that they are withdrawn.
    The last flag says that another manager has sent the acknowledgements, so that none are sent here.
    """
    if queue.record.outgoing is not None and not carried:
        reason = AT_THE_SOURCE.get(reason, reason)
        carrier = None if queue.link is None else queue.link.carrier
        if positions and carrier is not None:
            lookup_ids = tuple(position.lookup_id for position in positions)
            state.draft.signal(MessageWithdrawn(carrier.name, queue.number, lookup_ids, reason))
    removed = []
    received = reason is _RECEIVED
    journaled = received and queue.record.settings.journaling
    failed = not received and reason.is_failure
    kept = not received and reason in ALWAYS_KEPT
    for position in positions:
        if not (position.asks or journaled or kept or (failed and position.dead_letter)):  # no copy, no news
            removed.append(position)
            continue
        if position.asks and not acknowledged:
            _owe(state, queue, position, reason)
        copy_queue = _queue_for_copy(state, queue, position, reason)
        if copy_queue is None:
            removed.append(position)
        else:
            copy = _copy(position, reason, queue)
            apply(state, facts.PositionMoved(queue.number, copy_queue.number, copy, reason))
    if removed:
        apply(state, facts.PositionsRemoved(queue.number, tuple(removed), reason))
    if facts.PositionDeleted in state.subscribed:  # DM-285
        for position in positions:
            state.draft.signal(facts.PositionDeleted(queue.number, position, reason))


def _owe(state: State, queue: QueueState, position: Position, reason: MessageClass) -> None:
    """Record the acknowledgements that the message requests; they are sent at the end of the turn."""
    asks = position.asks & ANSWERS[reason]
    if asks:
        state.turn.owed.append(Owed(queue.number, state.messages.get(position, whole=False), reason, asks))


def _copy(position: Position, reason: MessageClass, queue: QueueState | None = None) -> Position:
    """Return the position of a copy: with the reason and the queue of the original, and without any timer."""
    return msgspec.structs.replace(
        position,
        reason=reason,
        origin=queue.number if queue else 0,
        origin_path=queue.record.pathname if queue else "",
        expires=0,
        dead_letter=False,
        asks=0,
        handed_out=0,  # else an application's dead-letter queue would treat it as poison
        aborted=0,
        purged=0,
        due=0,
    )


def _queue_for_copy(
    state: State, queue: QueueState, position: Position, reason: MessageClass
) -> QueueState | None:
    """Return the journal or dead-letter queue that keeps a copy of the message, or None."""
    if reason is MessageClass.ACK_RECEIVE:
        return _journal(state, queue, position)
    if reason is MessageClass.ACK_REACH_QUEUE and position.asks & JOURNALED:  # QB-208
        has_room = journal_has_room(state, queue.number, position.size)
        return state.system_queue("journal") if has_room else None
    if not reason.is_failure or not (position.dead_letter or reason in ALWAYS_KEPT):
        return None
    return _dead_letter_queue(
        state, queue.number, state.messages.get(position, whole=False), position, reason
    )


# -- the journal of a queue


def _journal(state: State, queue: QueueState, position: Position) -> QueueState | None:
    """Return the journal that keeps a received message (AN-42), or None; a copy without room is counted."""
    settings = queue.record.settings
    journal = state.queues.get(queue.record.journal or 0)  # a delete removes the journal before its queue
    if not settings.journaling or journal is None:
        return None
    # A required journal had room when the message was received (`may_receive`).
    if settings.journal_required or not exceeds(settings.journal_quota, journal.total_bytes + position.size):
        return journal
    lose(state, queue.number, Copy.JOURNAL, f"the journal's quota is {settings.journal_quota} kilobytes")
    return None


def may_receive(state: State, queue: QueueState, size: int) -> bool:
    """Return whether `size` bytes may be received: not if a required journal has no room for them."""
    settings = queue.record.settings
    journal = state.queues.get(queue.record.journal or 0)
    if not settings.journal_required or not settings.journaling or journal is None:
        return True
    return not exceeds(settings.journal_quota, journal.total_bytes + size)


# -- dead letters


def move_to_dead_letters(state: State, message: Message, position: Position, reason: MessageClass) -> None:
    """Acknowledge a message that did not enter its queue, and keep the dead letter that it requests
    (DM-050)."""
    asks = position.asks & ANSWERS[reason]
    if asks:
        state.turn.owed.append(Owed(0, message, reason, asks))
    if position.dead_letter or reason in ALWAYS_KEPT:
        copy_queue = _dead_letter_queue(state, 0, message, position, reason)
        if copy_queue is not None:
            kept = msgspec.structs.replace(_copy(position, reason), origin_path=message.destination_queue)
            apply(state, facts.MessagesStored(copy_queue.number, (kept,), (message,)))


def _dead_letter_queue(
    state: State, source: int, message: Message, position: Position, reason: MessageClass
) -> QueueState | None:
    """Return the dead-letter queue for a failed message (DM-050, DM-051), or None; a lost one is counted."""
    own, size = _application_queue(state, message), position.size
    # DEPARTS from 3.1.1.12 (DM-051): the dead-letter queue of the manager is used where that of the
    # application is the queue that the message leaves, because a purge would put back what it removes; and
    # where that of the application is full, because the manager's has room.
    if own is not None and own.number != source and _has_room(own, size):
        return own
    target = state.system_queue("deadxact" if message.is_transactional else "deadletter")
    quota = target.record.settings.quota
    if reason in ALWAYS_KEPT or _has_room(target, size):
        return target
    why = f"the quota of {target.record.pathname} is {quota} kilobytes"
    lose(state, source, Copy.DEAD_LETTER, why)
    return None


def _has_room(queue: QueueState, size: int) -> bool:
    """Return whether `size` more bytes fit into the quota of a queue."""
    return not exceeds(queue.record.settings.quota, queue.total_bytes + size)


def _application_queue(state: State, message: Message) -> QueueState | None:
    """Return the dead-letter queue that the message names; None if there is none that can be used."""
    if not message.application_deadletter_queue:
        return None
    try:
        target = destinations.find(state, message.application_deadletter_queue)
    except UsageError:
        return None
    usable = (
        target is not None
        and target.record.kind is not QueueType.SYSTEM
        and target.record.outgoing is None
        and not target.record.is_journal
        and target.record.settings.transactional == message.is_transactional
    )
    return target if usable else None


# -- the source journal


def copy_to_system_journal(state: State, queue: QueueState, position: Position) -> None:
    """Keep a copy of a delivered message in the system journal (PositiveJournalingRequested, DM-049)."""
    journal = state.system_queue("journal")
    # The copy gets its own LookupIdentifier, because both may later be moved into one queue (AN-13).
    lane, sequence = position.lookup_id & ~SEQUENCE_MASK, state.numbers.next_sequence() & SEQUENCE_MASK
    kept = msgspec.structs.replace(
        _copy(position, MessageClass.ACK_REACH_QUEUE, queue), lookup_id=lane | sequence
    )
    apply(state, facts.PositionCopied(journal.number, kept))


def journal_has_room(state: State, source: int, size: int) -> bool:
    """Return whether the system journal has room for a message; if not, the copy is counted as lost."""
    journal, quota = state.system_queue("journal"), state.identity().journal_quota
    if not exceeds(quota, journal.total_bytes + size):
        return True
    lose(state, source, Copy.SOURCE_JOURNAL, f"the quota of the manager's journals is {quota} kilobytes")
    return False

"""Put messages into a queue: Enqueue Message, [MS-MQDMPR] 3.1.7.1.9.

enqueue: is there room? --> insert: identity, position, deadline --> admit: stored, copied to the journal
                                                                 '-> kept in the transaction until its commit
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import LAST_SECOND, SECOND, Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.noting import heard
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import (
    FOREVER,
    NO_OBJECT,
    PRIORITY_LIMIT,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
    Position,
    size_of,
)
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.parts.turn import Owed
from reliquary.queueing.model.queue import exceeds
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LANE_SHIFT, SEQUENCE_MASK, Operation
from reliquary.queueing.rules.acknowledge import ANSWERS, asked, asked_in
from reliquary.queueing.rules.leave import copy_to_system_journal, journal_has_room, move_to_dead_letters
from reliquary.wire.history import Happening

_TOO_LATE: Final = MessageClass.NACK_REACH_QUEUE_TIMEOUT
TRANSACTION_BYTES: Final = 256 * 1024 * 1024
"""Bytes that one transaction may send at most; they are in memory until it is prepared or committed."""


class Enqueued(Enum):
    """The four answers of Enqueue Message."""

    DONE = 0
    QUEUE_FULL = 1
    MANAGER_FULL = 2
    TOO_LATE = 3


STATUS: Final[dict[Enqueued, HResult]] = {
    Enqueued.DONE: HResult.OK,
    Enqueued.QUEUE_FULL: HResult.INSUFFICIENT_RESOURCES,
    Enqueued.MANAGER_FULL: HResult.INSUFFICIENT_RESOURCES,
    Enqueued.TOO_LATE: HResult.IO_TIMEOUT,
}


def check_transaction(transaction: Transaction, size: int) -> None:
    """Refuse messages that would make a transaction larger than TRANSACTION_BYTES."""
    if transaction.size + size > TRANSACTION_BYTES:
        raise UsageError(
            f"a transaction sends at most {TRANSACTION_BYTES} bytes, this one would reach"
            f" {transaction.size + size}"
        )


def judge(state: State, queue: QueueState, size: int) -> Enqueued:
    """Return DONE if manager and queue have room for `size` more bytes, or which of them is full."""
    if state.manager.throttled or manager_is_full(state, size):  # DM-187
        return Enqueued.MANAGER_FULL
    return Enqueued.QUEUE_FULL if queue_is_full(queue, size) else Enqueued.DONE


def queue_is_full(queue: QueueState, size: int) -> bool:
    """Return whether `size` more bytes would exceed the quota of this queue (DM-188)."""
    quota = queue.record.settings.quota
    return quota != FOREVER and exceeds(quota, queue.total_bytes + queue.counts.reserved + size)


def manager_is_full(state: State, size: int) -> bool:
    """Return whether `size` more bytes would exceed the quota of the manager, for all queues together."""
    quota = state.identity().quota
    return quota != FOREVER and exceeds(quota, bytes_used(state) + size)


def why_full(state: State) -> str:
    """Return a sentence that says why the manager takes no messages at present."""
    if state.manager.throttled:
        return state.manager.throttled_why or "the manager takes no messages until its store has caught up"
    return f"the manager's quota is {state.identity().quota} kilobytes, {bytes_used(state)} bytes are used"


def bytes_used(state: State) -> int:
    """Return the bytes that count against the manager's quota: those of queues and of open transactions."""
    return state.totals.bytes + sum(transaction.size for transaction in state.transactions.open.values())


def too_late(message: Message, now: Instant) -> bool:
    """Return whether the TimeToReachQueue of a message has run out before it arrived (AN-06)."""
    sent = message.sent_time
    return sent < LAST_SECOND and now > (sent + message.time_to_reach_queue) * SECOND


def enqueue(
    state: State,
    queue: QueueState,
    messages: Sequence[Message],
    now: Instant,
    transaction: Transaction | None = None,
    *,
    travelled: bool = False,
    expires: bool = True,
) -> tuple[Enqueued, list[int]]:
    """Put messages into a queue, at once or when the transaction commits; return their LookupIdentifiers.

    Either all messages enter or none; only a message whose own time has run out is left out, with 0 in
    place of its identifier.

    `travelled`: the messages came from another manager, which keeps the journal copy (DM-049); the caller
    calls `refused` for those that are not taken.
    `expires`: the TimeToReachQueue is checked; without it messages are taken however long they travelled.
    """
    sizes = list(map(size_of, messages))
    verdict = judge(state, queue, sum(sizes))
    if verdict is not Enqueued.DONE:
        return verdict, []
    return insert(state, queue, messages, sizes, now, transaction, travelled=travelled, expires=expires)


def insert(
    state: State,
    queue: QueueState,
    messages: Sequence[Message],
    sizes: Sequence[int],
    now: Instant,
    transaction: Transaction | None = None,
    *,
    travelled: bool = False,
    expires: bool = True,
    captured: UUID | None = None,
) -> tuple[Enqueued, list[int]]:
    """Put messages into a queue like `enqueue`, without the check for room; the caller has made it.

    `captured` is the id of the transaction in which a carrier received the messages.
    """
    if transaction is None and captured is None and travelled and not expires and queue.link is None:
        plain = _plain_positions(state, queue, messages, sizes, now)
        if plain:
            apply(state, facts.MessagesStored(queue.number, plain, tuple(messages)))
            return Enqueued.DONE, [position.lookup_id for position in plain]
    captured = captured if transaction is None else transaction.identifier
    verdict, outgoing = Enqueued.DONE, queue.link is not None
    positions, stamped, lookup_ids = [], [], []
    for message, size in zip(messages, sizes, strict=True):
        if expires and message.sent_time and too_late(message, now):
            if not travelled:
                late = (message.identifier,)
                heard(state, Happening.REFUSED, queue.record.pathname, late, _TOO_LATE)
            if message.negative_journaling and not travelled:
                _keep_late(state, message, size, now, captured)
            if message.spool in state.messages.bodies.loose:
                apply(state, facts.SpoolsDropped((message.spool,)))
            verdict = Enqueued.TOO_LATE
            lookup_ids.append(0)
            continue
        sequence = state.numbers.next_sequence()
        # computed before the stamp, because SentTime has whole seconds only
        timed = outgoing or message.time_to_be_received != FOREVER
        deadline = deadline_in(queue, message, now) if timed else 0
        due = message.due(now) if message.delay else 0
        if captured is not None or not message.identifier.uniquifier:
            message = _stamp(state, message, sequence, now, captured)  # noqa: PLW2901
        position = position_in(queue, message, sequence, size, now, deadline, due)
        stamped.append(message)
        positions.append(position)
        lookup_ids.append(position.lookup_id)
    if transaction is not None:
        _add_to_transaction(transaction, queue, positions, stamped)
        state.note_room(queue)
    elif positions:
        admit(state, queue, positions, stamped, now, travelled=travelled)
    return verdict, lookup_ids


def _plain_positions(
    state: State, queue: QueueState, messages: Sequence[Message], sizes: Sequence[int], now: Instant
) -> tuple[Position, ...]:
    """Return the positions of messages without special wishes; the fast path for messages that travelled.

    They have an identity, do not expire and ask for no acknowledgement.  If one message has any special
    wish, the result is empty; the caller then handles each message alone, with an equal result.
    """
    special = [
        message
        for message in messages
        if message.delivery is Delivery.EXPRESS
        or message.time_to_be_received != FOREVER
        or message.delay
        or message.acknowledgements
        or message.tracing_requested
        or message.sequence is not None
        or message.soap_envelope
        or message.negative_journaling
        or message.allow_peek_when_locked
        or message.stored_body is not None
        or not message.identifier.uniquifier
    ]
    if special:
        return ()
    sequences = state.numbers.next_sequences(len(messages))
    highest = 0 if queue.record.settings.transactional else PRIORITY_LIMIT
    return tuple(
        [
            Position(
                (highest and highest - message.priority) << LANE_SHIFT | sequence & SEQUENCE_MASK,
                sequence,
                size,
                now,
            )
            for message, sequence, size in zip(messages, sequences, sizes, strict=True)
        ]
    )


def _keep_late(state: State, message: Message, size: int, now: Instant, captured: UUID | None) -> None:
    """Keep a late message as a dead letter; a late message that is not kept gets no number (DM-197)."""
    sequence = state.numbers.next_sequence()
    message = _stamp(state, message, sequence, now, captured)
    late = Position(
        sequence, sequence, size, now, express=message.is_express, dead_letter=True, spool=message.spool
    )
    move_to_dead_letters(state, message, late, _TOO_LATE)


def refused(
    state: State, message: Message, reason: MessageClass, now: Instant, *, keep: bool = False
) -> None:
    """Send the negative acknowledgement for a message of another manager that its queue does not take.

    The source keeps the dead letter (DM-050).  `keep` is set when the protocol cannot report the refusal to
    the source, so the dead letter is kept here, [MS-MQQB] 3.1.5.8.8.
    """
    sequence = state.numbers.next_sequence()
    position = Position(
        sequence,
        sequence,
        size_of(message),
        now,
        express=message.is_express,
        dead_letter=keep and message.negative_journaling and not message.is_transactional,
        asks=asked(message),
        spool=message.spool,
    )
    move_to_dead_letters(state, message, position, reason)


def admit(
    state: State,
    queue: QueueState,
    positions: Sequence[Position],
    messages: Sequence[Message],
    now: Instant,
    *,
    prepared: bool = False,
    travelled: bool = False,
) -> None:
    """Store messages in the queue, with journal copies, acknowledgements and timers (DM-194, DM-196)."""
    if not travelled:
        positions = [
            share_with_journal(state, queue, position, message) if message.positive_journaling else position
            for position, message in zip(positions, messages, strict=True)
        ]
    apply(state, facts.MessagesStored(queue.number, tuple(positions), tuple(messages), prepared))
    announce(state, queue, positions, messages, now)


def share_with_journal(state: State, queue: QueueState, position: Position, message: Message) -> Position:
    """Return the position; it is marked as shared where the system journal is to show the message too."""
    # in an outgoing queue the copy is made when the message has reached its destination
    wanted = message.positive_journaling and queue.record.outgoing is None
    if wanted and journal_has_room(state, queue.number, position.size):
        return msgspec.structs.replace(position, shared=True)
    return position


def announce(
    state: State, queue: QueueState, positions: Sequence[Position], messages: Sequence[Message], now: Instant
) -> None:
    """Make journal copies, note acknowledgements to send and set timers for messages that were stored."""
    here = queue.record.outgoing is None
    for position, message in zip(positions, messages, strict=True):
        if position.asks and here:
            arrival = position.asks & ANSWERS[MessageClass.ACK_REACH_QUEUE]
            if arrival:
                state.turn.owed.append(Owed(queue.number, message, MessageClass.ACK_REACH_QUEUE, arrival))
        if position.shared:
            copy_to_system_journal(state, queue, position)
        if position.expires or position.due:
            state.watch_clock(min(filter(None, (position.expires, position.due))), now)


def _stamp(state: State, message: Message, sequence: int, now: Instant, captured: UUID | None) -> Message:
    """Return the message with its identity and transaction; one that travelled keeps its identity."""
    delivery = message.delivery
    if captured is None:
        captured = message.transaction
    else:
        delivery = Delivery.RECOVERABLE
    if message.identifier is not NO_OBJECT and message.identifier != NO_OBJECT:
        if captured == message.transaction:
            return message
        return msgspec.structs.replace(message, transaction=captured, delivery=delivery)
    lineage = state.manager.lineage
    return msgspec.structs.replace(
        message,
        identifier=ObjectId(lineage, sequence & 0xFFFFFFFF),
        source_machine=lineage,
        sent_time=message.sent_time or in_whole_seconds(now),
        transaction=captured,
        delivery=delivery,
    )


def deadline_in(queue: QueueState, message: Message, now: Instant) -> int:
    """Return the moment at which the message expires in this queue, or 0 for never."""
    if queue.link is None:
        return 0 if message.time_to_be_received == FOREVER else message.deadline(now)
    # DEPARTS from 3.1.2.4 (DM-080): time runs in outgoing queues too, because a message whose
    # destination is never reached would stay for ever.
    return min(filter(None, (message.deadline(now), message.reach_deadline(now))), default=0)


def position_in(
    queue: QueueState, message: Message, sequence: int, size: int, now: Instant, expires: int, due: int
) -> Position:
    """Return the position of a new message: its place in the order of the queue, and its properties there."""
    # DEPARTS from 3.1.7.1.9 (AN-03): the printed condition is the wrong way round; a message
    # outside a stream is ordered by its priority, one in a transactional queue by arrival alone,
    # because otherwise the LookupIdentifier would not grow along the queue.
    in_order = queue.record.settings.transactional or (queue.link and message.is_transactional)
    lane = 0 if in_order else PRIORITY_LIMIT - message.priority
    # DEPARTS from 3.1.1.12 (DM-050): a message that came in a stream is no dead letter here, because its
    # source keeps it until it knows the outcome, and would have a second copy.
    dead_letter = message.negative_journaling and message.sequence is None
    lookup_id = lane << LANE_SHIFT | sequence & SEQUENCE_MASK  # DM-191, DM-192
    express, asks = message.delivery is Delivery.EXPRESS, asked_in(queue.record, message)
    peekable, spool = message.allow_peek_when_locked, message.stored_body.spool if message.stored_body else 0
    if not (express or asks or peekable or dead_letter or due or spool):  # the usual case, made faster
        return Position(lookup_id, sequence, size, now, expires)  # DM-189
    return Position(
        lookup_id,
        sequence,
        size,
        now,
        expires,
        express=express,
        peekable=peekable,
        dead_letter=dead_letter,
        asks=asks,
        due=due,
        spool=spool,
    )


def _add_to_transaction(
    transaction: Transaction, queue: QueueState, positions: Sequence[Position], messages: Sequence[Message]
) -> None:
    """Keep messages in the transaction; they are visible only after its commit (DM-195)."""
    for position, message in zip(positions, messages, strict=True):
        transaction.size += position.size
        transaction.messages[position.message] = message
        transaction.operations.append(Operation("enqueue", queue.number, position))
        queue.counts.reserved += position.size

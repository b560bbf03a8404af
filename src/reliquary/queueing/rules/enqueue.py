"""Enqueue Message, [MS-MQDMPR] 3.1.7.1.9."""

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
from reliquary.queueing.model.queue import exceeds
from reliquary.queueing.model.state import Owed, QueueState, State, Transaction
from reliquary.queueing.model.tables import LANE_SHIFT, SEQUENCE_MASK, Operation
from reliquary.queueing.rules.acknowledge import ANSWERS, asked, asked_in
from reliquary.queueing.rules.leave import bury, copy_to_system_journal, journal_has_room
from reliquary.wire.history import Happening

_TOO_LATE: Final = MessageClass.NACK_REACH_QUEUE_TIMEOUT
TRANSACTION_BYTES: Final = 256 * 1024 * 1024
"""What one transaction may send; until it is prepared or committed it is kept in memory."""


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
    """Refuse what would make a transaction too large for memory."""
    if transaction.size + size > TRANSACTION_BYTES:
        raise UsageError(
            f"a transaction sends at most {TRANSACTION_BYTES} bytes, this one would reach"
            f" {transaction.size + size}"
        )


def judge(state: State, queue: QueueState, size: int) -> Enqueued:
    """Whether so many more bytes may come in.  Changes nothing."""
    if state.throttled or manager_is_full(state, size):  # DM-187
        return Enqueued.MANAGER_FULL
    return Enqueued.QUEUE_FULL if queue_is_full(queue, size) else Enqueued.DONE


def queue_is_full(queue: QueueState, size: int) -> bool:
    """Whether so many more bytes are too much for this queue (DM-188)."""
    return exceeds(queue.record.settings.quota, queue.total_bytes + queue.reserved + size)


def manager_is_full(state: State, size: int) -> bool:
    """Whether so many more bytes are too much for all queues together."""
    quota = state.identity().quota
    return quota != FOREVER and exceeds(quota, bytes_used(state) + size)


def why_full(state: State) -> str:
    """Why there is no room for anybody's messages."""
    if state.throttled:
        return state.throttled_why or "the manager takes no messages until its store has caught up"
    return f"the manager's quota is {state.identity().quota} kilobytes, {bytes_used(state)} bytes are used"


def bytes_used(state: State) -> int:
    """What counts against the manager's quota: also what transactions sent that have not ended."""
    return state.total_bytes + sum(transaction.size for transaction in state.transactions.values())


def too_late(message: Message, now: Instant) -> bool:
    """Whether the message's time to reach a queue ran out on the way (AN-06)."""
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
    """Put messages into a queue, or into a transaction that will; answers with LookupIdentifiers.

    All of them or none: a message is left out alone only when its own time has run out.  What
    `travelled` is journaled by its source (DM-049), and is `refused` where it cannot be taken; unless
    it `expires`, it is taken however long it travelled.
    """
    sizes = [size_of(message) for message in messages]
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
    """As `enqueue`, when it is known that there is room; `captured` under a transaction of a carrier."""
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
                _bury_late(state, message, size, now, captured)
            if message.spool in state.shelf.bodies.loose:
                apply(state, facts.SpoolsDropped((message.spool,)))
            verdict = Enqueued.TOO_LATE
            lookup_ids.append(0)
            continue
        sequence = state.next_sequence()
        # before the stamp, which knows only whole seconds
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
        _join(transaction, queue, positions, stamped)
        state.note_room(queue)
    elif positions:
        admit(state, queue, positions, stamped, now, travelled=travelled)
    return verdict, lookup_ids


def _plain_positions(
    state: State, queue: QueueState, messages: Sequence[Message], sizes: Sequence[int], now: Instant
) -> tuple[Position, ...]:
    """The positions of messages that have an identity, never expire, and about which nobody is told anything.

    Nothing, where one of them is otherwise: then each is looked at alone, with the same result.
    """
    unlike = [
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
    if unlike:
        return ()
    sequences = state.next_sequences(len(messages))
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


def _bury_late(state: State, message: Message, size: int, now: Instant, captured: UUID | None) -> None:
    """A message that came too late takes a number only where it is kept (DM-197); its sender is told."""
    sequence = state.next_sequence()
    message = _stamp(state, message, sequence, now, captured)
    late = Position(
        sequence, sequence, size, now, express=message.is_express, dead_letter=True, spool=message.spool
    )
    bury(state, message, late, _TOO_LATE)


def refused(
    state: State, message: Message, reason: MessageClass, now: Instant, *, keep: bool = False
) -> None:
    """A message came from another manager and does not get into its queue: its sender is written to.

    Its source keeps the dead letter (DM-050); `keep` where the way it came by cannot tell the source,
    [MS-MQQB] 3.1.5.8.8.
    """
    sequence = state.next_sequence()
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
    bury(state, message, position, reason)


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
    """Messages are in the queue for good: tell the disk, the journal and the clock (DM-194, DM-196)."""
    if not travelled:
        positions = [
            share_with_journal(state, queue, position, message) if message.positive_journaling else position
            for position, message in zip(positions, messages, strict=True)
        ]
    apply(state, facts.MessagesStored(queue.number, tuple(positions), tuple(messages), prepared))
    announce(state, queue, positions, messages, now)


def share_with_journal(state: State, queue: QueueState, position: Position, message: Message) -> Position:
    """The position of a message that the system journal will show too, where it asked for that."""
    # elsewhere it is for the moment when it gets to its destination
    wanted = message.positive_journaling and queue.record.outgoing is None
    if wanted and journal_has_room(state, queue.number, position.size):
        return msgspec.structs.replace(position, shared=True)
    return position


def announce(
    state: State, queue: QueueState, positions: Sequence[Position], messages: Sequence[Message], now: Instant
) -> None:
    """Messages are in the queue: tell the journal, the clock, and those who asked for it."""
    here = queue.record.outgoing is None
    for position, message in zip(positions, messages, strict=True):
        if position.asks and here:
            arrival = position.asks & ANSWERS[MessageClass.ACK_REACH_QUEUE]
            if arrival:
                state.owed.append(Owed(queue.number, message, MessageClass.ACK_REACH_QUEUE, arrival))
        if position.shared:
            copy_to_system_journal(state, queue, position)
        if position.expires or position.due:
            state.watch_clock(min(filter(None, (position.expires, position.due))), now)


def _stamp(state: State, message: Message, sequence: int, now: Instant, captured: UUID | None) -> Message:
    """Give a message of our own its identity; one that travelled has it already."""
    delivery = message.delivery
    if captured is None:
        captured = message.transaction
    else:
        delivery = Delivery.RECOVERABLE
    if message.identifier is not NO_OBJECT and message.identifier != NO_OBJECT:
        if captured == message.transaction:
            return message
        return msgspec.structs.replace(message, transaction=captured, delivery=delivery)
    lineage = state.lineage
    return msgspec.structs.replace(
        message,
        identifier=ObjectId(lineage, sequence & 0xFFFFFFFF),
        source_machine=lineage,
        sent_time=message.sent_time or in_whole_seconds(now),
        transaction=captured,
        delivery=delivery,
    )


def deadline_in(queue: QueueState, message: Message, now: Instant) -> int:
    """When the message leaves the queue unread, or 0 for never."""
    if queue.link is None:
        return 0 if message.time_to_be_received == FOREVER else message.deadline(now)
    # DEPARTS from 3.1.2.4 (DM-080): time runs in outgoing queues too, because a message whose
    # destination is never reached would stay for ever.
    return min(filter(None, (message.deadline(now), message.reach_deadline(now))), default=0)


def position_in(
    queue: QueueState, message: Message, sequence: int, size: int, now: Instant, expires: int, due: int
) -> Position:
    """Where a new message stands in a queue, and what is known of it there."""
    # DEPARTS from 3.1.7.1.9 (AN-03): the printed condition is the wrong way round; a message
    # outside a stream is ordered by its priority, one in a transactional queue by arrival alone,
    # because otherwise the LookupIdentifier would not grow along the queue.
    in_order = queue.record.settings.transactional or (queue.link and message.is_transactional)
    lane = 0 if in_order else PRIORITY_LIMIT - message.priority
    # DEPARTS from 3.1.1.12 (DM-050): a message that came in a stream is no dead letter here, because its
    # source keeps it until it knows the end, and would have it a second time.
    dead_letter = message.negative_journaling and message.sequence is None
    lookup_id = lane << LANE_SHIFT | sequence & SEQUENCE_MASK  # DM-191, DM-192
    express, asks = message.delivery is Delivery.EXPRESS, asked_in(queue.record, message)
    peekable, spool = message.allow_peek_when_locked, message.stored_body.spool if message.stored_body else 0
    if not (express or asks or peekable or dead_letter or due or spool):  # most are
        return Position(lookup_id, sequence, size, now, expires)
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


def _join(
    transaction: Transaction, queue: QueueState, positions: Sequence[Position], messages: Sequence[Message]
) -> None:
    """DM-195: they are nobody's business until the transaction commits."""
    for position, message in zip(positions, messages, strict=True):
        transaction.size += position.size
        transaction.messages[position.message] = message
        transaction.operations.append(Operation("enqueue", queue.number, position))
        queue.reserved += position.size

"""Enqueue Message, [MS-MQDMPR] 3.1.7.1.9."""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, Instant, in_whole_seconds
from reliquary.queueing import facts
from reliquary.queueing.apply import apply
from reliquary.queueing.leave import bury, copy_to_system_journal, journal_has_room
from reliquary.queueing.message import (
    NO_OBJECT,
    PRIORITY_LIMIT,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
    Position,
    size_of,
)
from reliquary.queueing.queue import exceeds
from reliquary.queueing.state import QueueState, State, Transaction
from reliquary.queueing.tables import LANE_SHIFT, SEQUENCE_MASK, Operation

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


def check_transaction(transaction: Transaction | None, size: int) -> None:
    """Refuse what would make a transaction too large for memory."""
    if transaction is not None and transaction.size + size > TRANSACTION_BYTES:
        raise UsageError(
            f"a transaction sends at most {TRANSACTION_BYTES} bytes, this one would reach"
            f" {transaction.size + size}"
        )


def judge(state: State, queue: QueueState, size: int) -> Enqueued:
    """Whether so many more bytes may come in.  Changes nothing."""
    if state.throttled or exceeds(state.identity().quota, state.total_bytes + size):  # DM-187
        return Enqueued.MANAGER_FULL
    if exceeds(queue.record.settings.quota, queue.total_bytes + queue.reserved + size):  # DM-188
        return Enqueued.QUEUE_FULL
    return Enqueued.DONE


def too_late(message: Message, now: Instant) -> bool:
    """Whether the message's time to reach a queue ran out on the way (AN-06)."""
    return bool(message.sent_time) and now > (message.sent_time + message.time_to_reach_queue) * SECOND


def enqueue(
    state: State, queue: QueueState, message: Message, now: Instant, transaction: Transaction | None = None
) -> tuple[Enqueued, int]:
    """Put one message into a queue, or into a transaction that will; answers with its LookupIdentifier."""
    size = size_of(message)
    check_transaction(transaction, size)
    verdict = judge(state, queue, size)
    return insert(state, queue, message, size, now, transaction) if verdict is Enqueued.DONE else (verdict, 0)


def insert(
    state: State,
    queue: QueueState,
    message: Message,
    size: int,
    now: Instant,
    transaction: Transaction | None,
) -> tuple[Enqueued, int]:
    """The second half of Enqueue Message: there is room (DM-189 to DM-197)."""
    sequence = state.next_sequence()
    message = _stamp(state, message, sequence, now, transaction)
    if too_late(message, now):
        late = Position(sequence, sequence, size, now, express=message.is_express)
        bury(state, message, late, MessageClass.NACK_REACH_QUEUE_TIMEOUT)
        return Enqueued.TOO_LATE, 0
    position = _position(queue, message, sequence, size, now)
    if transaction is None:
        admit(state, queue, position, message, now)
    else:
        _join(transaction, queue, position, message)
    return Enqueued.DONE, position.lookup_id


def admit(
    state: State,
    queue: QueueState,
    position: Position,
    message: Message,
    now: Instant,
    *,
    prepared: bool = False,
) -> None:
    """A message is in the queue for good: tell the disk, the journal and the clock (DM-194, DM-196)."""
    journal = message.positive_journaling and journal_has_room(state, position.size)
    if journal:
        position = msgspec.structs.replace(position, shared=True)
    apply(state, facts.MessageStored(queue.number, position, message, prepared))
    if journal:
        copy_to_system_journal(state, position)
    if position.expires:
        state.watch_clock(position.expires, now)


def _stamp(
    state: State, message: Message, sequence: int, now: Instant, transaction: Transaction | None
) -> Message:
    """Give a message of our own its identity; one that travelled has it already."""
    lineage = state.identity().identifier
    fresh = message.identifier == NO_OBJECT
    return msgspec.structs.replace(
        message,
        identifier=ObjectId(lineage, sequence & 0xFFFFFFFF) if fresh else message.identifier,
        source_machine=lineage if fresh else message.source_machine,
        sent_time=message.sent_time or in_whole_seconds(now),
        transaction=transaction.identifier if transaction else message.transaction,
        delivery=Delivery.RECOVERABLE if transaction else message.delivery,
    )


def _position(queue: QueueState, message: Message, sequence: int, size: int, now: Instant) -> Position:
    # DEPARTS from 3.1.7.1.9 (AN-03): the printed condition is the wrong way round; a message
    # outside a stream is ordered by its priority, one in a transactional queue by arrival alone,
    # because otherwise the LookupIdentifier would not grow along the queue.
    lane = 0 if queue.record.settings.transactional else PRIORITY_LIMIT - message.priority
    return Position(
        lookup_id=lane << LANE_SHIFT | sequence & SEQUENCE_MASK,  # DM-191, DM-192
        message=sequence,
        size=size,
        arrived=now,
        expires=message.deadline(now),
        express=message.is_express,
        peekable=message.allow_peek_when_locked,
        dead_letter=message.negative_journaling,
    )


def _join(transaction: Transaction, queue: QueueState, position: Position, message: Message) -> None:
    """DM-195: it is nobody's business until the transaction commits."""
    transaction.size += position.size
    transaction.messages[position.message] = message
    transaction.operations.append(Operation("enqueue", queue.number, position))
    queue.reserved += position.size

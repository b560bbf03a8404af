"""Put messages into a queue: Enqueue Message, [MS-MQDMPR] 3.1.7.1.9.

enqueue: is there room? --> insert: identity, position, deadline --> admit: stored, copied to the journal
                                                                 '-> kept in the transaction until its commit
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import LAST_SECOND, SECOND, Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.noting import note_unstored
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import (
    EXPRESS,
    FOREVER,
    INLINE_SIZE,
    NO_OBJECT,
    PRIORITY_LIMIT,
    RECOVERABLE,
    USUAL,
    Message,
    MessageClass,
    ObjectId,
    Position,
    rare_part,
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
from reliquary.wire.history import HistoryEvent

_TOO_LATE: Final = MessageClass.NACK_REACH_QUEUE_TIMEOUT
TRANSACTION_BYTES: Final = 256 * 1024 * 1024
"""The largest number of bytes that one transaction may send; they are in memory until prepare or commit."""


class Enqueued(Enum):
    """The four answers of Enqueue Message."""

    DONE = 0
    QUEUE_FULL = 1
    MANAGER_FULL = 2
    TOO_LATE = 3

    __hash__ = object.__hash__  # members are equal only to themselves; the hash of Enum is slower


DONE: Final = Enqueued.DONE
TOO_LATE: Final = Enqueued.TOO_LATE

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
    manager = state.manager
    assert manager.record is not None, "the manager has no quota before it started"
    if manager.throttled or (manager.record.quota != FOREVER and manager_is_full(state, size)):  # DM-187
        return Enqueued.MANAGER_FULL
    has_quota = queue.record.settings.quota != FOREVER
    return Enqueued.QUEUE_FULL if has_quota and queue_is_full(queue, size) else DONE


def queue_is_full(queue: QueueState, size: int) -> bool:
    """Return whether `size` more bytes would exceed the quota of this queue (DM-188)."""
    quota = queue.record.settings.quota
    return quota != FOREVER and exceeds(quota, queue.total_bytes + queue.counts.reserved + size)


def manager_is_full(state: State, size: int) -> bool:
    """Return whether `size` more bytes would exceed the quota of the manager, for all queues together."""
    assert state.manager.record is not None, "the manager has no quota before it started"
    quota = state.manager.record.quota
    return quota != FOREVER and exceeds(quota, bytes_used(state) + size)


def why_full(state: State) -> str:
    """Return a sentence that says why the manager takes no messages at present."""
    if state.manager.throttled:
        return state.manager.throttled_why or "the manager takes no messages until its store has caught up"
    return f"the manager's quota is {state.identity().quota} kilobytes, {bytes_used(state)} bytes are used"


def bytes_used(state: State) -> int:
    """Return the bytes that count against the manager's quota: queues, open transactions, a large batch."""
    used = state.totals.bytes + state.staging.reserved
    if not state.transactions.open:
        return used
    return used + sum([each.size for each in state.transactions.open.values()])


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
    calls `refused` for those that are not taken. `expires`: the TimeToReachQueue is checked; without it,
    messages are taken after any time.
    """
    sizes = list(map(size_of, messages))
    verdict = judge(state, queue, sum(sizes))
    if verdict is not DONE:
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
    captured = captured if transaction is None else transaction.identifier
    late: list[Message] = []
    for message in messages if expires else ():
        if message.sent_time and too_late(message, now):
            late.append(message)  # noqa: PERF401 - for the one message of most calls a loop is quicker
    here, sent = queue.link is None and captured is None, in_whole_seconds(now)
    highest = 0 if queue.record.settings.transactional else PRIORITY_LIMIT
    inline_in = 0 if queue.feed.mark else queue.number
    first = state.numbers.next_sequences(len(messages) - len(late)).start
    positions: list[Position] = []
    stamped: list[Message] = []
    lookup_ids: list[int] = []
    are_usual = here
    for place, message in enumerate(messages):
        size, sequence = sizes[place], first + len(positions)
        if late and any(each is message for each in late):
            _refuse_late(state, queue, message, size, now, captured, travelled=travelled)
            lookup_ids.append(0)
            continue
        more, deadline, due = message.more, 0, 0
        usual = (
            here
            and message.delivery is RECOVERABLE
            and message.time_to_be_received == FOREVER
            and (
                more is None
                or not (
                    more.delay
                    or more.acknowledgements
                    or more.tracing_requested
                    or more.final_ack_required
                    or (more.positive_journaling and (not travelled or more.sequence is not None))
                    or more.negative_journaling
                    or more.allow_peek_when_locked
                    or more.stored_body is not None
                )
            )
        )
        if not usual:  # computed before the stamp, because SentTime has whole seconds only
            are_usual = False
            timed = queue.link is not None or message.time_to_be_received != FOREVER
            deadline = deadline_in(queue, message, now) if timed else 0
            due = message.due(now) if more is not None and more.delay else 0
        if captured is not None or not message.identifier.uniquifier:
            message = _stamp(state, message, sequence, sent, captured)  # noqa: PLW2901
        if usual:  # the message requests nothing but to be stored
            lookup_id = (highest and highest - message.priority) << LANE_SHIFT | sequence & SEQUENCE_MASK
            position = Position(lookup_id, sequence, size, now, inline_in if size <= INLINE_SIZE else 0)
        else:
            position = position_in(queue, message, sequence, size, now, deadline, due)
        stamped.append(message)
        positions.append(position)
        lookup_ids.append(position.lookup_id)
    if transaction is not None:
        _add_to_transaction(transaction, queue, positions, stamped)
        state.note_room(queue)
    elif are_usual and positions:
        apply(state, facts.MessagesStored(queue.number, tuple(positions), tuple(stamped)))
    elif positions:
        admit(state, queue, positions, stamped, now, travelled=travelled)
    return TOO_LATE if late else DONE, lookup_ids


def _refuse_late(
    state: State,
    queue: QueueState,
    message: Message,
    size: int,
    now: Instant,
    captured: UUID | None,
    *,
    travelled: bool,
) -> None:
    """Record that a message came too late, and keep the dead letter that it requests."""
    if not travelled:
        note_unstored(state, HistoryEvent.REFUSED, queue.record.pathname, (message.identifier,), _TOO_LATE)
        if message.negative_journaling:
            _keep_late(state, message, size, now, captured)
    if message.spool in state.messages.bodies.loose:
        apply(state, facts.SpoolsDropped((message.spool,)))


def _keep_late(state: State, message: Message, size: int, now: Instant, captured: UUID | None) -> None:
    """Keep a late message as a dead letter; a late message that is not kept gets no number (DM-197)."""
    sequence = state.numbers.next_sequence()
    message = _stamp(state, message, sequence, in_whole_seconds(now), captured)
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
            share_with_journal(state, queue, position, message)
            if message.more is not None and message.more.positive_journaling
            else position
            for position, message in zip(positions, messages, strict=True)
        ]
    apply(state, facts.MessagesStored(queue.number, tuple(positions), tuple(messages), prepared))
    announce(state, queue, positions, messages, now)


def share_with_journal(state: State, queue: QueueState, position: Position, message: Message) -> Position:
    """Return the position; it is marked as shared where the system journal is to show the message too."""
    # in an outgoing queue the copy is made when the message has reached its destination
    wanted = message.positive_journaling and queue.record.outgoing is None
    if wanted and journal_has_room(state, queue.number, position.size):
        return replace(position, shared=True, inline_in=0)
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


def _stamp(state: State, message: Message, sequence: int, sent: int, captured: UUID | None) -> Message:
    """Return the message with its identity and transaction; a message from another manager keeps its
    identity.

    `sent` is its SentTime if it has none.
    """
    more, delivery = message.more, message.delivery
    if captured is not None:
        delivery = RECOVERABLE
        if captured != message.transaction:
            more = replace(more or USUAL, transaction=captured)
    if message.identifier is not NO_OBJECT and message.identifier != NO_OBJECT:
        return message if more is message.more else replace(message, more=more, delivery=delivery)
    identifier = ObjectId(state.manager.lineage, sequence & 0xFFFFFFFF)  # QB-098, QB-277
    if more is not None and more.source_machine is not None:
        more = rare_part(replace(more, source_machine=None), identifier)
    return Message(
        identifier,
        message.body,
        message.label,
        message.priority,
        delivery,
        message.sent_time or sent,
        message.time_to_be_received,
        message.body_type,
        more,
    )


def deadline_in(queue: QueueState, message: Message, now: Instant) -> int:
    """Return the moment at which the message expires in this queue, or 0 for never."""
    if queue.link is None:
        return 0 if message.time_to_be_received == FOREVER else message.deadline(now)
    # DEPARTS from 3.1.2.4 (DM-080): time runs in outgoing queues too, because a message whose destination is
    # never reached would stay permanently.
    return min(filter(None, (message.deadline(now), message.reach_deadline(now))), default=0)


def position_in(
    queue: QueueState, message: Message, sequence: int, size: int, now: Instant, expires: int, due: int
) -> Position:
    """Return the position of a new message: its LookupIdentifier, and its properties in this queue."""
    # DEPARTS from 3.1.7.1.9 (AN-03): the printed condition is the wrong way round; a message
    # outside a stream is ordered by its priority, one in a transactional queue by arrival alone,
    # because otherwise the LookupIdentifier would not grow along the queue.
    in_order = queue.record.settings.transactional or (queue.link and message.is_transactional)
    lane = 0 if in_order else PRIORITY_LIMIT - message.priority
    lookup_id = lane << LANE_SHIFT | sequence & SEQUENCE_MASK  # DM-191, DM-192
    more, express = message.more, message.delivery is EXPRESS
    # A consumer keeps messages that have left the queue, so those have rows of their own from the start.
    inline_in = 0 if express or due or size > INLINE_SIZE or queue.feed.mark else queue.number
    if more is None:
        return Position(lookup_id, sequence, size, now, inline_in, expires, express=express)  # DM-189
    return Position(
        lookup_id,
        sequence,
        size,
        now,
        inline_in,
        expires,
        express=express,
        peekable=more.allow_peek_when_locked,
        # DEPARTS from 3.1.1.12 (DM-050): a message that came in a stream is no dead letter here, because its
        # source keeps it until it knows the outcome, and would have a second copy.
        dead_letter=more.negative_journaling and more.sequence is None,
        asks=asked_in(queue.record, message),
        due=due,
        spool=0 if more.stored_body is None else more.stored_body.spool,
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

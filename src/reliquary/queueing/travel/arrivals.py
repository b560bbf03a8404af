"""Puts messages from other managers into queues of this manager, or refuses them.

    MessageArrived --> ArrivalJudged     one message
    BatchArrived   --> BatchJudged       a batch: all its messages are taken, or none is

A carrier (a protocol that brings messages, `carriers`) sends the signal on the left; the answer on the
right says whether the messages were taken, are refused permanently, or can be brought again later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.queueing.changes.noting import note_unstored
from reliquary.queueing.model.events import Access
from reliquary.queueing.model.history.notes import API, OURSELVES, Initiator
from reliquary.queueing.model.message import (
    FOREVER,
    HOP_LIMIT,
    NO_OBJECT,
    USUAL,
    AuthenticationLevel,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    Position,
    check,
    size_of,
)
from reliquary.queueing.model.names.formats import MulticastName
from reliquary.queueing.model.parts.name_index import RemoteTarget
from reliquary.queueing.model.queue import ManagerState, QueuePrivacy
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import ANONYMOUS, MANAGER, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import (
    ArrivalJudged,
    BatchArrived,
    BatchJudged,
    DuplicatesDropped,
    MessageArrived,
    Outcome,
    StreamResumed,
)
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.acknowledge import FINAL, asked
from reliquary.queueing.rules.enqueue import (
    DONE,
    Enqueued,
    enqueue,
    insert,
    judge,
    manager_is_full,
    queue_is_full,
    refused,
    too_late,
    why_full,
)
from reliquary.queueing.rules.era import NOT_KNOWN, may_have_come
from reliquary.queueing.rules.leave import move_to_dead_letters
from reliquary.queueing.rules.permission import Act, lacks
from reliquary.queueing.rules.spool import check_bodies, drop
from reliquary.queueing.travel import rooms
from reliquary.queueing.travel.listeners import listening_to
from reliquary.wire.history import HistoryEvent

Verdict = tuple[Outcome, MessageClass]
_READY: Final = ManagerState.READY
_NORMAL: Final = MessageClass.NORMAL
_REFUSED: Final = Outcome.REFUSED
_DELIVERED: Final = Outcome.DELIVERED
_SEND: Final = Act.SEND
_NOT_ENCRYPTED: Final = MessagePrivacy.NONE
_ONLY_ENCRYPTED: Final = QueuePrivacy.BODY
_ANY_PRIVACY: Final = QueuePrivacy.OPTIONAL
_BATCH_MASK: Final = (1 << 64) - 1
"""The lower 64 bits of a carrier's transaction: the number of the batch."""

_VERDICTS: Final[dict[Enqueued, Verdict]] = {
    Enqueued.DONE: (Outcome.DELIVERED, MessageClass.ACK_REACH_QUEUE),
    Enqueued.QUEUE_FULL: (Outcome.REFUSED, MessageClass.NACK_QUEUE_EXCEED_QUOTA),
    Enqueued.MANAGER_FULL: (Outcome.TRY_LATER, MessageClass.NORMAL),
    Enqueued.TOO_LATE: (Outcome.REFUSED, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
}
"""The verdict on a message for each result of `enqueue`.

A full manager says TRY_LATER, because it will have room again; a full queue refuses the message
permanently.
"""


def on_arrival(state: State, signal: MessageArrived, now: Instant) -> None:
    """Put a message into its queue or refuse it, and report the verdict to its carrier."""
    is_ours = _is_ours(signal.message)
    state.turn.initiator = OURSELVES if is_ours else _initiator(signal)
    outcome, reason = _take(state, signal, now, is_ours=is_ours)
    if outcome is _REFUSED and signal.refusal_is_sent and _is_full(state):
        outcome, reason = _VERDICTS[Enqueued.MANAGER_FULL]
    if outcome is _DELIVERED:
        state.travel.taken[signal.carrier] += not is_ours
    elif outcome is _REFUSED:
        note_unstored(state, HistoryEvent.REFUSED, signal.destination, (signal.message.identifier,), reason)
        if not signal.message.soap_envelope:  # else the HTTP status reports the refusal
            _acknowledge_refusal(state, signal, reason, now)
    state.turn.initiator = API
    state.draft.signal(ArrivalJudged(signal.carrier, signal.ticket, outcome, reason))


def _is_ours(message: Message) -> bool:
    """Return whether a message is a receipt that a carrier of this manager wrote, which has no identifier."""
    return not message.identifier.uniquifier and message.identifier == NO_OBJECT


def _is_full(state: State) -> bool:
    """Return whether the manager has no room left, so that it could not store a report of a refusal
    either."""
    return state.manager.throttled or manager_is_full(state, 0)


def _acknowledge_refusal(state: State, signal: MessageArrived, reason: MessageClass, now: Instant) -> None:
    """Send the negative acknowledgement of a refused message, unless its carrier suppresses it."""
    keep = signal.keep_if_full and reason is MessageClass.NACK_QUEUE_EXCEED_QUOTA
    if reason not in signal.silent:
        refused(state, signal.message, reason, now, keep=keep)


def _initiator(signal: MessageArrived) -> Initiator:
    """Return the sender of a message in the form for the history."""
    return Initiator("multicast" if signal.by_multicast else signal.carrier, signal.peer)


def on_duplicates(state: State, signal: DuplicatesDropped, now: Instant) -> None:
    """Record in the history that known messages came again."""
    del now
    state.turn.initiator = Initiator(signal.carrier, signal.peer, signal.batch)
    note_unstored(state, HistoryEvent.DUPLICATE, signal.destination, signal.identifiers)
    state.turn.initiator = API


def on_resumed(state: State, signal: StreamResumed, now: Instant) -> None:
    """Record in the history that a stream continues after numbers that are lost."""
    del now
    state.turn.initiator = Initiator(signal.carrier, signal.peer, signal.skipped)
    note_unstored(state, HistoryEvent.RESUMED, signal.destination, (signal.identifier,), NOT_KNOWN)
    state.turn.initiator = API


def _take(state: State, signal: MessageArrived, now: Instant, *, is_ours: bool) -> Verdict:
    """Put a message into its queue, or into all queues that listen to its address; return the verdict."""
    message = signal.message
    if state.manager.state is not _READY or not (state.travel.online or is_ours):
        return Outcome.TRY_LATER, MessageClass.NORMAL  # DM-124
    if signal.refusal is not _NORMAL:
        return Outcome.REFUSED, signal.refusal
    try:
        check(message)
        if message.stored_body is not None:
            check_bodies(state, (message,))
        queue = destinations.to_send(state, signal.destination)
        if queue is not None:
            return _put_in_queue(state, queue, signal, now)
        name = destinations.read_name(state, signal.destination, Access.SEND)
        if isinstance(name, MulticastName):
            return _best_verdict(
                [_put_in_queue(state, queue, signal, now) for queue in listening_to(state, name)]
            )
        is_possible = not signal.only_here or destinations.is_here(state, name)
        not_found = HResult.QUEUE_NOT_FOUND
        found = destinations.queue_named(state, name, Access.SEND, now) if is_possible else not_found
    except UsageError:
        return Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE
    if found is HResult.QUEUE_NOT_FOUND:
        return Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE
    if isinstance(found, HResult):
        return Outcome.REFUSED, MessageClass.NACK_ACCESS_DENIED
    return _put_in_queue(state, found, signal, now)


def _best_verdict(verdicts: list[Verdict]) -> Verdict:
    """Return the best verdict of the queues that listen to one address: one copy that is taken is enough."""
    for outcome in (Outcome.DELIVERED, Outcome.TRY_LATER, Outcome.REFUSED):
        for verdict in verdicts:
            if verdict[0] is outcome:
                return verdict
    return Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE


def _put_in_queue(state: State, queue: QueueState, signal: MessageArrived, now: Instant) -> Verdict:
    """Put a message into one queue, if the queue accepts it, and return the verdict."""
    message = signal.message
    # DEPARTS from 3.1.5.1.12 (SR-235): the list of a public queue is the one that is kept with it and
    # published, not read from the directory each time, because without a directory no message could be taken.
    if queue.record.outgoing is None and lacks(state, ANONYMOUS, queue, _SEND):
        return Outcome.REFUSED, MessageClass.NACK_ACCESS_DENIED
    reason = mismatch(queue, message, in_transaction=message.is_transactional)
    if reason is not None:
        return Outcome.REFUSED, reason
    if signal.doubtful or (state.manager.era is not None and _is_doubtful(state, queue, message)):
        _put_aside(state, message, signal.destination, now)
        return Outcome.DELIVERED, NOT_KNOWN
    if queue.record.outgoing is not None:
        is_ours = _is_ours(message)  # a receipt that this manager wrote has made no hop yet
        onward = _with_hop(state, message, queue.record.outgoing.destination, int(not is_ours))
        if onward is None:
            return Outcome.REFUSED, MessageClass.NACK_HOP_COUNT_EXCEEDED
        message = onward
        if is_ours and not message.is_express:
            # DEPARTS from 3.1.7.1.9 (DM-187): a durable receipt of this manager needs no room, because it is
            # written only once: without it the sender would never get the outcome of its message.
            insert(state, queue, (message,), (size_of(message),), now, travelled=True, expires=False)
            return _VERDICTS[DONE]
    verdict, _ = enqueue(state, queue, (message,), now, travelled=True, expires=signal.expires)
    return _VERDICTS[verdict]


def _is_doubtful(state: State, queue: QueueState, message: Message) -> bool:
    """Return whether a message that must arrive only once may have arrived before the store was restored.

    A message that continues its stream is never doubtful: its last receiver finds repeats by their
    numbers.
    """
    goes_on = queue.record.outgoing is not None and message.sequence is not None
    return message.is_transactional and not goes_on and may_have_come(state, message)


def _put_aside(state: State, message: Message, destination: str, now: Instant) -> None:
    """Keep a message as a dead letter, because it may have come before the store was restored.

    A sender that waits for the outcome of its message gets NOT_KNOWN as the reason.
    """
    message = message.changed(destination_queue=message.destination_queue or destination)
    number, size, asks = state.numbers.next_sequence(), size_of(message), asked(message) & FINAL
    position = Position(number, number, size, now, express=message.is_express, spool=message.spool, asks=asks)
    move_to_dead_letters(state, message, position, NOT_KNOWN)


def _with_hop(state: State, message: Message, destination: str, hop: int = 1) -> Message | None:
    """Return a message in the form for another manager; None if it made too many hops already."""
    if message.hops >= HOP_LIMIT:
        why = f"{HOP_LIMIT} managers have passed a message on: look for a redirection that leads back here"
        state.draft.ask(Warn(destination, "messages go in a circle", why))
        return None
    return message.changed(
        hops=message.hops + hop, destination_queue=message.destination_queue or destination
    )


def mismatch(queue: QueueState, message: Message, *, in_transaction: bool) -> MessageClass | None:
    """Return the reason why a queue refuses a message from another manager; None if it accepts it."""
    more = message.more or USUAL
    if queue.record.outgoing is not None:  # only its destination queue has conditions
        return None
    settings = queue.record.settings
    is_private = more.privacy is not _NOT_ENCRYPTED
    if in_transaction and not settings.transactional:
        return MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE
    if settings.transactional and not in_transaction:
        return MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE  # QB-246
    if settings.authentication and more.authentication is AuthenticationLevel.NONE:
        return MessageClass.NACK_BAD_SIGNATURE
    if settings.privacy is (QueuePrivacy.NONE if is_private else _ONLY_ENCRYPTED):  # DM-023
        return MessageClass.NACK_BAD_ENCRYPTION
    return None


# -- in batches


class _Refusal(NamedTuple):
    """The reason why a batch is not taken."""

    outcome: Outcome
    reason: MessageClass
    place: int
    """The index of the message that is the cause; -1 if no single message is."""
    why: str


@dataclass(slots=True)
class _Part:
    """The messages of a batch that go into one queue."""

    way: QueueState | RemoteTarget
    """The queue, or a destination whose outgoing queue is still to be created."""
    transactional: bool
    destination: str
    """The format name of an outgoing queue; empty for a queue of this manager."""
    strict: bool = False
    """Whether the queue has conditions for the signature or the encryption of its messages."""
    messages: list[Message] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


def on_batch(state: State, signal: BatchArrived, now: Instant) -> None:
    """Put all messages of a batch into their queues, or none, and report the verdict to the carrier."""
    batch = f"{signal.transaction.int >> 64}:{signal.transaction.int & _BATCH_MASK}"
    state.turn.initiator = Initiator(signal.carrier, signal.peer, batch)
    if signal.messages and _put_together(state, signal, now):
        _report_taken(state, signal)
        return
    doubtful: list[tuple[str, Message]] = []
    parts = _judge(state, signal, now, doubtful)
    if isinstance(parts, _Refusal):
        if parts.outcome is Outcome.REFUSED:
            identifiers = [message.identifier for message in signal.messages]
            note_unstored(state, HistoryEvent.REFUSED, "", identifiers, parts.reason)
        state.turn.initiator = API
        state.draft.signal(BatchJudged(signal.carrier, signal.ticket, *parts))
        return
    for part in parts:
        if part.messages:
            queue = destinations.take(state, part.way, now)
            captured = signal.transaction if part.transactional else None
            insert(
                state, queue, part.messages, part.sizes, now, travelled=True, expires=False, captured=captured
            )
    for name, message in doubtful:
        _put_aside(state, message, name, now)
    left_out = [each.spool for each in signal.messages if each.more is not None and each.spool]
    drop(state, left_out)
    _report_taken(state, signal)


def _report_taken(state: State, signal: BatchArrived) -> None:
    """Report to the carrier that all messages of its batch were taken."""
    state.turn.initiator = API
    state.travel.taken[signal.carrier] += len(signal.messages)
    if state.travel.rooms.changed:
        rooms.report(state)  # so the carrier knows how much room is left before it gets the verdict
    state.draft.signal(BatchJudged(signal.carrier, signal.ticket, _DELIVERED))


def _put_together(state: State, signal: BatchArrived, now: Instant) -> bool:
    """Store a batch of ordinary messages for one queue of this manager, by a fast path.

    Return False, without any change, for all other batches: `_judge` decides about them.
    """
    name, messages = signal.destinations[0], signal.messages
    if (
        state.manager.state is not _READY
        or not state.travel.online
        or not signal.checked
        or (state.manager.era is not None and signal.once)
        or signal.destinations.count(name) != len(messages)
        or not _are_ordinary(messages)
    ):
        return False
    try:
        queue = destinations.to_send(state, name)
    except UsageError:
        return False
    if queue is None:
        return False
    settings = queue.record.settings
    if settings.authentication or settings.privacy is not _ANY_PRIVACY:
        return False
    sizes = list(map(size_of, messages))
    if judge(state, queue, sum(sizes)) is not DONE:
        return False
    if signal.by is not MANAGER and lacks(state, signal.by, queue, _SEND):
        return False
    captured = signal.transaction if settings.transactional else None
    insert(state, queue, messages, sizes, now, travelled=True, expires=False, captured=captured)
    return True


def _are_ordinary(messages: Sequence[Message]) -> bool:
    """Return whether messages have no deadline, no large body, and no transaction or stream of their own."""
    special = [
        message
        for message in messages
        if (more := message.more) is None  # then it has a TimeToReachQueue
        or more.time_to_reach_queue != FOREVER
        or message.time_to_be_received != FOREVER
        or more.transaction is not None
        or more.sequence is not None
        or more.stored_body is not None
    ]
    return not special


def _judge(
    state: State, signal: BatchArrived, now: Instant, doubtful: list[tuple[str, Message]]
) -> list[_Part] | _Refusal:
    """Return which messages go into which queues, or why the batch is refused; queues do not change.

    Messages that may have arrived before the store was restored are added to `doubtful`.
    """
    if state.manager.state is not ManagerState.READY:
        why = f"the queue manager is {state.manager.state.value}"
        return _Refusal(Outcome.TRY_LATER, MessageClass.NORMAL, -1, why)
    if not state.travel.online:
        return _Refusal(Outcome.TRY_LATER, MessageClass.NORMAL, -1, "the queue manager is offline")  # DM-124
    try:
        check_bodies(state, signal.messages)
    except UsageError as wrong:
        return _Refusal(Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE, -1, str(wrong))
    named: dict[str, _Part] = {}
    parts: dict[int | str, _Part] = {}  # two names may mean one queue
    late: list[ObjectId] = []
    for place, (name, message) in enumerate(zip(signal.destinations, signal.messages, strict=True)):
        part = named.get(name)
        if part is None:
            found = _part_for(state, name, signal.by)
            if isinstance(found, tuple):
                return _Refusal(Outcome.REFUSED, found[0], place, found[1])
            key = found.way.number if isinstance(found.way, QueueState) else found.destination
            part = named[name] = parts.setdefault(key, found)
        if not signal.checked:
            try:
                check(message)
            except UsageError as wrong:
                return _Refusal(Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE, place, str(wrong))
        more = message.more or USUAL
        if part.strict or more.transaction is not None or more.sequence is not None:
            mismatch = _mismatch_in_batch(part, message)
            if mismatch is not None:
                why = f"{name} does not take this kind of message: {mismatch.name}"
                return _Refusal(Outcome.REFUSED, mismatch, place, why)
        limited = message.time_to_be_received != FOREVER or more.time_to_reach_queue != FOREVER
        if limited and message.sent_time and _is_expired(message, now):
            late.append(message.identifier)
            continue
        if state.manager.era is not None and signal.once and may_have_come(state, message):
            doubtful.append((name, message))
            continue
        if part.destination:
            onward = _with_hop(state, message, part.destination)
            if onward is None:
                why = f"more than {HOP_LIMIT} managers have passed on a message to {part.destination}"
                return _Refusal(Outcome.REFUSED, MessageClass.NACK_HOP_COUNT_EXCEEDED, place, why)
            message = onward  # noqa: PLW2901
        part.messages.append(message)
        part.sizes.append(size_of(message))
        part.places.append(place)
    refusal = _quota_refusal(state, list(parts.values()))
    if late and refusal is None:
        note_unstored(state, HistoryEvent.EXPIRED, "", late, MessageClass.NACK_REACH_QUEUE_TIMEOUT)
    return refusal or list(parts.values())


Flaw = tuple[MessageClass, str]
"""The reason why messages to a name are refused, as a class and as a sentence."""


def _part_for(state: State, name: str, by: Principal) -> _Part | Flaw:
    """Return an empty part for the queue of a name, or why this sender may not send to it."""
    try:
        read = destinations.read_name(state, name)  # a path name of another computer is not valid here
        way = destinations.look_up(state, read, Access.SEND)
    except UsageError as wrong:
        return MessageClass.NACK_BAD_DEST_QUEUE, str(wrong)
    if way is HResult.QUEUE_NOT_FOUND or isinstance(read, MulticastName):
        return MessageClass.NACK_BAD_DEST_QUEUE, f"there is no queue {name}"
    if isinstance(way, HResult):
        return MessageClass.NACK_ACCESS_DENIED, destinations.why_refused(way, name)
    if isinstance(way, RemoteTarget):
        return _Part(way, transactional=False, destination=str(way.name))
    if way.record.outgoing is not None:
        return _Part(way, transactional=False, destination=way.record.outgoing.destination)
    why = "" if by is MANAGER else lacks(state, by, way, Act.SEND)
    if why:
        return MessageClass.NACK_ACCESS_DENIED, why
    settings = way.record.settings
    strict = settings.authentication or settings.privacy is not _ANY_PRIVACY
    return _Part(way, settings.transactional, destination="", strict=strict)


def _mismatch_in_batch(part: _Part, message: Message) -> MessageClass | None:
    """Return why a queue refuses a message of a batch; a batch is a transaction for transactional queues."""
    if isinstance(part.way, RemoteTarget):
        return None
    return mismatch(part.way, message, in_transaction=part.transactional or message.is_transactional)


def _is_expired(message: Message, now: Instant) -> bool:
    """Return whether a message expired on its way to this manager (QB-014)."""
    return too_late(message, now) or 0 < message.deadline(now) <= now


def _quota_refusal(state: State, parts: list[_Part]) -> _Refusal | None:
    """Return a refusal if the manager or a queue has no room for all messages of a batch, else None."""
    total = sum([size for part in parts for size in part.sizes])
    if state.manager.throttled or manager_is_full(state, total):
        return _Refusal(Outcome.TRY_LATER, MessageClass.NACK_QUEUE_EXCEED_QUOTA, -1, why_full(state))
    for part in parts:
        queue = part.way
        if isinstance(queue, RemoteTarget) or not queue_is_full(queue, sum(part.sizes)):
            continue
        sums = zip(part.places, accumulate(part.sizes), strict=True)
        fault = next(place for place, size in sums if queue_is_full(queue, size))
        quota = queue.record.settings.quota
        why = f"the quota of {queue.record.pathname} is {quota} kilobytes"
        return _Refusal(Outcome.REFUSED, MessageClass.NACK_QUEUE_EXCEED_QUOTA, fault, why)
    return None

"""Send messages to one queue, or a copy to each of several queues.

This is Enqueue Message To An Open Queue, [MS-MQDMPR] 3.1.7.1.27.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.hresult import OK, HResult
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.model.events import Sent
from reliquary.queueing.model.message import NO_OBJECT, USUAL, AuthenticationLevel, Message, ObjectId
from reliquary.queueing.model.names.formats import PublicName, is_format_name, parse_single
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.parts.name_index import SendTarget
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.enqueue import DONE, STATUS, Enqueued, enqueue, why_full
from reliquary.queueing.rules.handles import opened_ways

_SIGNED: Final = AuthenticationLevel.XML_SIG


def send(
    state: State,
    target: int | str,
    messages: Sequence[Message],
    transaction: Transaction | None,
    now: Instant,
) -> Sent:
    """Put messages into all queues that a handle or name means; return the identifiers in the first."""
    # a name is not opened, as no sharing mode excludes senders
    found = destinations.ways(state, target) if isinstance(target, str) else opened_ways(state, target, now)
    if isinstance(found, HResult):
        return Sent(found, destinations.why_refused(found, target))
    several, lineage = len(found) > 1, state.manager.lineage
    copies = _with_destinations(messages, found) if several else messages
    if several:  # each copy names all destinations, which makes it larger
        check_carriers(state, found, copies, in_transaction=transaction is not None)
    if several or found[0].carrier is not None:
        check_carriers(state, found, messages, in_transaction=transaction is not None)
    unsigned = _unsigned(found) if state.manager.signs else None
    if unsigned and any(each.more is not None and each.more.authentication is _SIGNED for each in messages):
        why = f"only what leaves by HTTP or multicast is signed, and {unsigned.name} is reached otherwise"
        return Sent(HResult.INVALID_PARAMETER, why)
    if several:
        if any(message.stored_body for message in messages):
            why = "a message whose body is stored in pieces goes to one queue"
            return Sent(HResult.INVALID_PARAMETER, why)
        messages = copies
    first: list[int] = []
    for way in found:  # DM-264
        queue = way.to  # a local queue of this manager needs no more
        if type(queue) is not QueueState or queue.link is not None:
            queue = destinations.take(state, queue, now)
        named = several or queue.record.outgoing is not None  # a single local queue needs no name
        addressed = _addressed(messages, way, queue) if named else messages
        verdict, lookup_ids = enqueue(state, queue, addressed, now, transaction)
        first = first or lookup_ids
        if verdict is not DONE:  # DM-265: earlier copies stay in their queues
            return Sent(STATUS[verdict], why_not(state, queue, verdict), tuple(first), lineage)
        if several:
            messages = [_identified(state, *pair, now) for pair in zip(messages, lookup_ids, strict=True)]
    return Sent(OK, "", tuple(first), lineage)  # DM-263


def check_destinations(message: Message) -> None:
    """Refuse a destination that names several queues (DM-052), or that is no valid name."""
    more = message.more
    for name in () if more is None else (more.destination_queue, *more.destination_queues):
        if is_format_name(name):
            parse_single(name)


def check_signing(state: State, message: Message) -> None:
    """Refuse a message that is to be signed and cannot be."""
    if message.authentication is not _SIGNED:
        return
    if not state.manager.signs:
        raise UsageError("the message is to be signed, and this manager has no signing key")
    if not (message.body_size or message.extension):
        raise UsageError("the message is to be signed, and has neither a body nor an extension")


def check_carriers(
    state: State, found: Sequence[SendTarget], messages: Sequence[Message], *, in_transaction: bool
) -> None:
    """Refuse messages that the carrier of one of their destinations cannot deliver."""
    for way in found:
        if way.carrier is not None and not isinstance(way.name, Pathname):
            _check_kind(state, way, in_transaction=in_transaction)
            for message in messages:
                way.carrier.check(state, way.name, message, in_transaction=in_transaction)


def _check_kind(state: State, way: SendTarget, *, in_transaction: bool) -> None:
    """Refuse messages if the remote queue is known not to take them, in or outside of transactions.

    It is known from the directory, or because the queue has refused messages before.
    """
    known = None
    if isinstance(way.name, PublicName) and not isinstance(way.to, QueueState):
        public = state.hooks.published_queue(state, way.name.queue)
        known = None if public is None else public.transactional
    elif isinstance(way.to, QueueState) and way.to.link is not None:
        known = way.to.link.transactional
    if known is not None and known is not in_transaction:
        only = "in transactions only" if known else "outside transactions only"
        raise UsageError(f"{way.name} takes messages {only}")


def _with_destinations(messages: Sequence[Message], found: Sequence[SendTarget]) -> Sequence[Message]:
    """Return copies of messages that name all their destinations."""
    names = tuple(str(each.name) for each in found)
    return [message.changed(destination_queues=names) for message in messages]


def _unsigned(found: Sequence[SendTarget]) -> SendTarget | None:
    """Return the first destination whose carrier cannot carry signatures, or None."""
    return next((way for way in found if way.carrier is None or not way.carrier.carries_signatures), None)


def _addressed(messages: Sequence[Message], way: SendTarget, queue: QueueState) -> Sequence[Message]:
    """Return messages with the name of their destination."""
    outgoing = queue.record.outgoing
    name = outgoing.destination if outgoing else str(way.name)
    return [
        replace(message, more=replace(message.more or USUAL, destination_queue=name)) for message in messages
    ]


def _identified(state: State, message: Message, lookup_id: int, now: Instant) -> Message:
    """Return the message with the identifier of its first copy, so that all copies have one identifier."""
    if message.identifier != NO_OBJECT:
        return message
    lineage = state.manager.lineage
    return message.changed(
        identifier=ObjectId(lineage, lookup_id & 0xFFFFFFFF),
        source_machine=lineage,
        sent_time=message.sent_time or in_whole_seconds(now),
    )


def why_not(state: State, queue: QueueState, verdict: Enqueued) -> str:
    """Return the reason for a sender why the queue did not take the messages."""
    match verdict:
        case Enqueued.QUEUE_FULL:
            limit, used = queue.record.settings.quota, queue.total_bytes + queue.counts.reserved
            return f"the queue's quota is {limit} kilobytes, {used} bytes are used"
        case Enqueued.MANAGER_FULL:
            return why_full(state)
        case Enqueued.TOO_LATE:
            return "the message's time to reach the queue ran out on the way"
        case Enqueued.DONE:
            return ""

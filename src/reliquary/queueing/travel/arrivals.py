"""A message from elsewhere reaches a queue of this manager, and its carrier is told the verdict."""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.enqueue import Enqueued, enqueue, refused
from reliquary.queueing.events import Access
from reliquary.queueing.message import (
    NO_OBJECT,
    AuthenticationLevel,
    Message,
    MessageClass,
    MessagePrivacy,
    check,
)
from reliquary.queueing.naming import destinations
from reliquary.queueing.naming.formats import MulticastName
from reliquary.queueing.queue import ManagerState, QueuePrivacy
from reliquary.queueing.security.permits import Act, lacks
from reliquary.queueing.security.principals import ANONYMOUS
from reliquary.queueing.spool import check_bodies
from reliquary.queueing.state import QueueState, State
from reliquary.queueing.travel.listeners import listening_to
from reliquary.queueing.travel.transfer import ArrivalJudged, BatchArrived, MessageArrived, Outcome

Verdict = tuple[Outcome, MessageClass]

_VERDICTS: Final[dict[Enqueued, Verdict]] = {
    Enqueued.DONE: (Outcome.DELIVERED, MessageClass.ACK_REACH_QUEUE),
    Enqueued.QUEUE_FULL: (Outcome.REFUSED, MessageClass.NACK_QUEUE_EXCEED_QUOTA),
    Enqueued.MANAGER_FULL: (Outcome.TRY_LATER, MessageClass.NORMAL),
    Enqueued.TOO_LATE: (Outcome.REFUSED, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
}
"""A manager that has no room for anybody's messages has some again later; one queue may not."""


def on_arrival(state: State, signal: MessageArrived, now: Instant) -> None:
    """Take a message in, or say why not."""
    outcome, reason = _take(state, signal, now)
    if outcome is Outcome.REFUSED and not signal.message.soap_envelope:  # else the status of HTTP says it
        refused(state, signal.message, reason, now)
    state.draft.tell(ArrivalJudged(signal.carrier, signal.ticket, outcome, reason))


def _take(state: State, signal: MessageArrived, now: Instant) -> Verdict:
    message = signal.message
    is_ours = message.identifier == NO_OBJECT  # a carrier wrote it here: a receipt
    if state.manager_state is not ManagerState.READY or not (state.online or is_ours):
        return Outcome.TRY_LATER, MessageClass.NORMAL  # DM-124
    try:
        check(message)
        check_bodies(state, (message,))
        name = destinations.read_name(state, signal.destination, Access.SEND)
        if isinstance(name, MulticastName):
            return _best([_put(state, queue, signal, now) for queue in listening_to(state, name)])
        queue = destinations.queue_named(state, name, Access.SEND, now)
    except UsageError:
        return Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE
    if queue is HResult.QUEUE_NOT_FOUND:
        return Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE
    if isinstance(queue, HResult):
        return Outcome.REFUSED, MessageClass.NACK_ACCESS_DENIED
    return _put(state, queue, signal, now)


def _best(verdicts: list[Verdict]) -> Verdict:
    """Of the queues that listen to one address: it is enough that one has taken its copy."""
    for outcome in (Outcome.DELIVERED, Outcome.TRY_LATER, Outcome.REFUSED):
        for verdict in verdicts:
            if verdict[0] is outcome:
                return verdict
    return Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE


def _put(state: State, queue: QueueState, signal: MessageArrived, now: Instant) -> Verdict:
    """Into one queue."""
    message = signal.message
    mismatch = _mismatch(state, queue, message)
    if mismatch is not None:
        return Outcome.REFUSED, mismatch
    if queue.record.outgoing is not None and not message.destination_queue:
        message = msgspec.structs.replace(message, destination_queue=queue.record.outgoing.destination)
    verdict, _ = enqueue(state, queue, (message,), now, travelled=True, expires=signal.expires)
    return _VERDICTS[verdict]


def _mismatch(state: State, queue: QueueState, message: Message) -> MessageClass | None:
    """Why this queue takes no such message from elsewhere; None when it does."""
    if queue.record.outgoing is not None:  # it only passes by
        return None
    settings = queue.record.settings
    in_transaction = message.is_transactional
    is_private = message.privacy is not MessagePrivacy.NONE
    # DEPARTS from 3.1.5.1.12 (SR-235): the list of a public queue is the one that is kept with it and
    # published, not read from the directory each time, because without a directory nothing would come in.
    if lacks(state, ANONYMOUS, queue, Act.SEND):
        return MessageClass.NACK_ACCESS_DENIED
    if in_transaction and not settings.transactional:
        return MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE
    if settings.transactional and not in_transaction:
        return MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE
    if settings.authentication and message.authentication is AuthenticationLevel.NONE:
        return MessageClass.NACK_BAD_SIGNATURE
    if settings.privacy is (QueuePrivacy.NONE if is_private else QueuePrivacy.BODY):  # DM-023
        return MessageClass.NACK_BAD_ENCRYPTION
    return None


def on_batch(state: State, signal: BatchArrived, now: Instant) -> None:
    """Take all messages of a batch in, or none."""

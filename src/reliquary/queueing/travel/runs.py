"""Stores runs of messages from another manager for one queue: all messages in one step, or none.

    RunArrived --> RunJudged(taken=True)      as if each had come by itself
                   RunJudged(taken=False)     nothing was changed: the carrier hands them over one by one

A run is for the ordinary case.  A run with an unusual message, or at an unusual state of the manager, is
left to `arrivals`, which judges each message alone.
"""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.model.events import Access
from reliquary.queueing.model.history.notes import API, Initiator
from reliquary.queueing.model.message import NO_OBJECT, check
from reliquary.queueing.model.names.formats import MulticastName
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import ANONYMOUS
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import RunArrived, RunJudged
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.enqueue import Enqueued, enqueue, too_late
from reliquary.queueing.rules.permission import Act, lacks
from reliquary.queueing.travel.arrivals import mismatch


def on_run(state: State, signal: RunArrived, now: Instant) -> None:
    """Put all messages of a run into their queue, or none, and report the result."""
    queue = _queue_of(state, signal, now)
    taken = queue is not None and _are_plain(queue, signal, now)
    if queue is not None and taken:
        state.turn.initiator = Initiator(signal.carrier, signal.peer)
        # `expires` is checked above, and a message without it takes the fast path
        verdict, _ = enqueue(state, queue, signal.messages, now, travelled=True, expires=False)
        state.turn.initiator = API
        taken = verdict is Enqueued.DONE
        if taken:
            state.travel.taken[signal.carrier] += len(signal.messages)
    state.draft.signal(RunJudged(signal.carrier, signal.ticket, taken))


def _queue_of(state: State, signal: RunArrived, now: Instant) -> QueueState | None:
    """Return the queue of this manager that a run is for, if anonymous senders may write to it now."""
    if state.manager.state is not ManagerState.READY or not state.travel.online:
        return None
    if state.manager.era is not None:  # a message may have come before the store was restored
        return None
    try:
        name = destinations.read_name(state, signal.destination, Access.SEND)
        if isinstance(name, MulticastName):
            return None
        queue = destinations.queue_named(state, name, Access.SEND, now)
    except UsageError:
        return None
    if isinstance(queue, HResult) or queue.record.outgoing is not None:
        return None
    return None if lacks(state, ANONYMOUS, queue, Act.SEND) else queue


def _are_plain(queue: QueueState, signal: RunArrived, now: Instant) -> bool:
    """Return whether the queue takes each message of a run, and none has run out of time."""
    for message in signal.messages:
        try:
            check(message)
        except UsageError:
            return False
        if (
            message.stored_body is not None
            or message.identifier == NO_OBJECT
            or (message.sent_time and too_late(message, now))
            or mismatch(queue, message, in_transaction=message.is_transactional) is not None
        ):
            return False
    return True

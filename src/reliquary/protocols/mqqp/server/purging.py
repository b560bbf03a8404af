"""Purges a queue by RemoteQMPurgeQueue, [MS-MQQP] 3.1.4.7.

The queue manager purges by name.  A queue that was deleted may have a successor of its name, which the client
did not open: so the manager is asked first in this turn whether the queue that the client opened still
exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import PurgeQueue, StatusReturned
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.asking import ask, number_for
from reliquary.protocols.mqqp.server.handles import queue_of
from reliquary.protocols.mqqp.server.responding import refuse, respond
from reliquary.protocols.mqqp.server.state import Asked, OpenedQueue
from reliquary.protocols.mqqp.server.statuses import STATUSES
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access

NO_MESSAGE: Final = 0
"""A LookupIdentifier that no message has."""


@dataclass(slots=True, eq=False)
class FindingQueue(Asked):
    """The queue manager checks whether a queue still exists, by a message that it cannot have."""

    called: ClientCalled
    queue: OpenedQueue


@dataclass(slots=True, eq=False)
class Purging(Asked):
    """The queue manager purges a queue; a long queue takes several turns."""

    called: ClientCalled


def purge_queue(state: State, called: ClientCalled, now: Instant) -> None:
    """Purge a queue (RemoteQMPurgeQueue, 3.1.4.7); failures are raised as faults (QP-111)."""
    del now
    request = called.request
    assert isinstance(request, PurgeQueue)
    queue = queue_of(state.server, request.queue, called.by)
    if queue is None or queue.session is None:
        refuse(state, called, HResult.INVALID_HANDLE)  # QP-110
        return
    if queue.access is not Access.RECEIVE:  # [MS-MQMP] 3.1.4.2: a handle to peek permits no purge
        refuse(state, called, HResult.ACCESS_DENIED)
        return
    caller = number_for(state, FindingQueue(called, queue))
    ask(state, events.LookUpMessage(caller, queue.descriptor, NO_MESSAGE, by=queue.by))


def on_queue_found(state: State, finding: FindingQueue, answer: events.Answer, now: Instant) -> None:
    """Purge the queue (QP-112), unless it was deleted or the user may not read it any more."""
    del now
    called, queue = finding.called, finding.queue
    if answer.status is not HResult.MESSAGE_NOT_FOUND:
        refuse(state, called, STATUSES[answer.status])
        return
    peer = state.server.connections[called.connection].peer
    ask(state, events.PurgeQueue(number_for(state, Purging(called)), queue.name, by=queue.by), peer)


def on_purged(state: State, purging: Purging, answer: events.Answer, now: Instant) -> None:
    """Return from the call; no response is sent if its connection is lost."""
    del now
    if answer.status is HResult.OK:
        respond(state, purging.called, StatusReturned(HResult.OK))
    else:
        refuse(state, purging.called, STATUSES[answer.status])

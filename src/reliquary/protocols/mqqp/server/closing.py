"""Closes an opened queue: [MS-MQQP] 3.1.4.4 and [MS-MQMP] 3.1.4.3."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, CloseQueue, HandleReturned
from reliquary.protocols.mqqp.codec.qmcomm import CloseRemoteQueueContext, ContextClosed
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.asking import Unattended, ask, number_for
from reliquary.protocols.mqqp.server.cancelling import end_wait
from reliquary.protocols.mqqp.server.handles import handle_of
from reliquary.protocols.mqqp.server.phases import NEXT, OpenedQueueEvent, Phase
from reliquary.protocols.mqqp.server.responding import respond
from reliquary.protocols.mqqp.server.state import Context, Ending, Held, OpenedQueue, Session
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model import events


def advance(state: State, queue: OpenedQueue, step: OpenedQueueEvent) -> None:
    """Take an opened queue to its next phase; one that is closed is closed at the queue manager too."""
    before, queue.phase = queue.phase, NEXT[queue.phase, step]
    if queue.phase is before:
        return
    if queue.phase in (Phase.ENDING, Phase.CLOSED):
        state.server.queues.pop(queue.number, None)
    if queue.phase is Phase.ENDING and not queue.held:
        advance(state, queue, OpenedQueueEvent.ALL_READS_ENDED)
    elif queue.phase is Phase.CLOSED:
        ask(state, events.CloseQueue(number_for(state, Unattended()), queue.descriptor))  # QP-098


# -- RemoteQMCloseQueue


def close_queue(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQMCloseQueue: close a session with its cursors and reads."""
    del now
    request = called.request
    assert isinstance(request, CloseQueue)
    session = handle_of(state, called, request.handle, Session)
    if session is not None:
        end_session(state, session)
        respond(state, called, HandleReturned(NO_HANDLE, HResult.OK))


def end_session(state: State, session: Session) -> None:
    """Remove an OpenQueueEntry: end its waiting reads, and close the queue (QP-097, QP-098, QP-140)."""
    del state.server.handles[session.handle]
    del session.association.sessions[session.handle]
    queue = session.queue
    queue.session = None
    for read in list(queue.pending.values()):
        end_wait(state, read, Ending.BY_CLIENT)
    advance(state, queue, OpenedQueueEvent.SESSION_CLOSED)


# -- R_QMCloseRemoteQueueContext


def close_context(state: State, called: ClientCalled, now: Instant) -> None:
    """Close a context (R_QMCloseRemoteQueueContext).

    A NULL handle is ignored, because the method has no status.
    """
    del now
    request = called.request
    assert isinstance(request, CloseRemoteQueueContext)
    if request.handle != NO_HANDLE:
        context = handle_of(state, called, request.handle, Context)
        if context is None:
            return
        end_context(state, context)
    respond(state, called, ContextClosed(NO_HANDLE))


def end_context(state: State, context: Context) -> None:
    """Forget a handle of qmcomm, and close its queue unless a session took the queue over."""
    del state.server.handles[context.handle]
    del context.association.contexts[context.handle]
    advance(state, context.queue, OpenedQueueEvent.CONTEXT_CLOSED)


# -- messages that were handed out


def release(state: State, held: Held) -> None:
    """Forget the handle of a message; after the last one, close a queue whose session is over (H-10)."""
    del state.server.handles[held.handle]
    del held.association.held[held.handle]
    del held.queue.held[held.handle]
    if not held.queue.held:
        advance(state, held.queue, OpenedQueueEvent.ALL_READS_ENDED)

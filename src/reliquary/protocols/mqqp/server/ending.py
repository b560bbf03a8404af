"""Ends a read by RemoteQMEndReceive, [MS-MQQP] 3.1.4.2: the reader has the message, or does not want it."""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge, EndReceive, HandleReturned
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.asking import Unattended, ask, number_for
from reliquary.protocols.mqqp.server.closing import release
from reliquary.protocols.mqqp.server.handles import handle_of
from reliquary.protocols.mqqp.server.responding import respond
from reliquary.protocols.mqqp.server.state import Asked, Held
from reliquary.protocols.mqqp.server.statuses import STATUSES
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import Answer, EndRead


@dataclass(slots=True, eq=False)
class EndingRead(Asked):
    """The queue manager removes a message, or unlocks it."""

    called: ClientCalled
    held: Held
    deletes: bool
    """Whether the client acknowledged the message, so that it is removed."""


def end_receive(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQMEndReceive: delete the message that was handed out, or return it to its queue."""
    del now
    request = called.request
    assert isinstance(request, EndReceive)
    held = handle_of(state, called, request.handle, Held)
    if held is None:
        return
    deletes = request.acknowledge is Acknowledge.ACK  # QP-073, QP-074, QP-079
    end = EndRead(
        number_for(state, EndingRead(called, held, deletes)),
        held.queue.descriptor,
        delete=deletes,
        lookup_ids=(held.lookup_id,),
        by=held.queue.by,
    )
    ask(state, end, state.server.connections[called.connection].peer)


def on_ended(state: State, ending: EndingRead, answer: Answer, now: Instant) -> None:
    """Return from the call; the deletion is on disk before the response leaves (T14)."""
    del now
    handle = ending.held.handle
    # A queue manager that stops has changed nothing: the message is still locked, and the handle still
    # valid.
    if answer.status is not HResult.SERVICE_NOT_AVAILABLE:
        release(state, ending.held)
        handle = NO_HANDLE  # QP-080
    if answer.status is HResult.OK:
        state.server.taken += ending.deletes
    respond(state, ending.called, HandleReturned(handle, STATUSES[answer.status]))


def run_down(state: State, held: Held) -> None:
    """Return a message to its queue whose reader is gone, as RR_NACK does (QP-141, QP-142)."""
    end = EndRead(
        number_for(state, Unattended()), held.queue.descriptor, delete=False, lookup_ids=(held.lookup_id,)
    )
    ask(state, end, held.association.peer)
    release(state, held)

"""Answers calls by a response, by a fault, or by the refusal that the method has for a status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, ReadDescriptor, Request, Response
from reliquary.protocols.mqqp.effects import RaiseFault, Respond
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.state import State
from reliquary.wire.rpc.statuses import FaultStatus


def respond(state: State, called: ClientCalled, response: Response) -> None:
    """Send the response of a method to its caller."""
    state.draft.ask(Respond(called.connection, called.call, response))


def fault(state: State, called: ClientCalled, status: int) -> None:
    """Raise an exception of RPC."""
    state.draft.ask(RaiseFault(called.connection, called.call, int(status)))


def refuse(state: State, called: ClientCalled, status: int) -> None:
    """Return a failure from a method, in the form that this method has for it."""
    refusal = REFUSALS[type(called.request)](called.request, int(status))
    if isinstance(refusal, Response):
        respond(state, called, refusal)
    else:
        fault(state, called, refusal)


def _read(request: qm2qm.StartReceive, status: int) -> Response:
    return qm2qm.ReadStarted(NO_HANDLE, _returned(request.read), status)  # QP-047


def _read_2(request: qm2qm.StartReceive2 | qm2qm.StartReceiveByLookupId, status: int) -> Response:
    read = None if request.read is None else _returned(request.read)
    return qm2qm.ReadStarted2(NO_HANDLE, read, request.sequential, status)  # QP-047, QP-122


def _returned(read: ReadDescriptor) -> ReadDescriptor:
    """Return the client's own descriptor without a buffer."""
    return read if read.packet is None else msgspec.structs.replace(read, packet=None)


def _handle(request: qm2qm.EndReceive | qm2qm.CloseQueue, status: int) -> Response:
    return qm2qm.HandleReturned(request.handle, status)


def _no_handle(request: qm2qm.OpenQueue, status: int) -> Response:
    del request
    return qm2qm.HandleReturned(NO_HANDLE, status)


def _status(request: Request, status: int) -> Response:
    del request
    return qm2qm.StatusReturned(status)


def _raised(request: qm2qm.PurgeQueue, status: int) -> int:
    del request
    return status  # QP-111


def _not_opened(request: qmcomm.OpenRemoteQueue, status: int) -> Response:
    del request
    return qmcomm.RemoteQueueOpened(NO_HANDLE, 0, 0, 0, status)


def _no_cursor(request: qmcomm.CreateRemoteCursor, status: int) -> Response:
    del request
    return qmcomm.CursorCreated(0, status)


def _no_status(request: qmcomm.CloseRemoteQueueContext, status: int) -> int:
    """Refuse a method without a status, which only the runtime can refuse."""
    del request, status
    return FaultStatus.ACCESS_DENIED


Refusal = Callable[[Any, int], Response | int]

REFUSALS: Final[Mapping[type[Request], Refusal]] = {
    qm2qm.StartReceive: _read,
    qm2qm.EndReceive: _handle,
    qm2qm.OpenQueue: _no_handle,
    qm2qm.CloseQueue: _handle,
    qm2qm.CloseCursor: _status,
    qm2qm.CancelReceive: _status,
    qm2qm.PurgeQueue: _raised,
    qm2qm.StartReceive2: _read_2,
    qm2qm.StartReceiveByLookupId: _read_2,
    qmcomm.OpenRemoteQueue: _not_opened,
    qmcomm.CloseRemoteQueueContext: _no_status,
    qmcomm.CreateRemoteCursor: _no_cursor,
}
"""The response, or the status of a fault; methods that every client may call are not refused."""

"""Ends a waiting read: [MS-MQQP] 3.1.4.6, and cancels of calls.

    RemoteQMCancelReceive, RemoteQMCloseQueue    the call returns 0x400E03E9
    co_cancel                                    the call ends with a fault
    orphaned, connection lost                    no response

The queue manager is asked to end the wait and answers in this turn; `reading.on_read` takes the answer.
"""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import CancelReceive, StatusReturned
from reliquary.protocols.mqqp.events import CallCancelled, ClientCalled
from reliquary.protocols.mqqp.server.asking import ask
from reliquary.protocols.mqqp.server.handles import queue_of
from reliquary.protocols.mqqp.server.responding import refuse, respond
from reliquary.protocols.mqqp.server.state import Ending, Read
from reliquary.protocols.mqqp.server.statuses import Status
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import CallerGone


def cancel_receive(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQMCancelReceive: end a read that still waits for a message."""
    del now
    request = called.request
    assert isinstance(request, CancelReceive)
    if request.queue_again == 0 or request.queue_again != request.queue:
        refuse(state, called, HResult.INVALID_PARAMETER)  # QP-104
        return
    queue = queue_of(state.server, request.queue, called.by)
    if queue is None or not queue.pending:
        refuse(state, called, HResult.INVALID_HANDLE)  # QP-105
        return
    read = queue.pending.get(request.request)
    if read is None:
        refuse(state, called, Status.FAILED)  # QP-106
        return
    # DEPARTS from 3.1.4.6 (QP-107): the wait is ended by the number of its caller and not by a tag, because
    # peeks have no tag (H-07), and two clients may use one dwRequestID (H-08).
    end_wait(state, read, Ending.BY_CLIENT)
    respond(state, called, StatusReturned(HResult.OK))  # QP-107, QP-108


def on_cancelled(state: State, event: CallCancelled, now: Instant) -> None:
    """End the wait of a call; calls of other kinds are short, and return unchanged."""
    del now
    connection = state.server.connections.get(event.connection)
    read = None if connection is None else connection.reads.get(event.call)
    if read is not None:
        end_wait(state, read, Ending.UNWANTED if event.forgotten else Ending.CALL_CANCELLED)


def end_wait(state: State, read: Read, ending: Ending) -> None:
    """End a read without a message, for the first reason that occurred."""
    if read.ending is None:
        read.ending = ending
        ask(state, CallerGone(read.caller))

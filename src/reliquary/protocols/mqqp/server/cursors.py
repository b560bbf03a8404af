"""Opens and closes cursors: R_QMCreateRemoteCursor, [MS-MQMP] 3.1.4.4.

RemoteQMCloseCursor, [MS-MQQP] 3.1.4.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import CloseCursor, StatusReturned
from reliquary.protocols.mqqp.codec.qmcomm import CreateRemoteCursor, CursorCreated
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.asking import Unattended, ask, number_for
from reliquary.protocols.mqqp.server.handles import new_number, queue_of
from reliquary.protocols.mqqp.server.responding import refuse, respond
from reliquary.protocols.mqqp.server.state import Asked, OpenedQueue
from reliquary.protocols.mqqp.server.statuses import STATUSES
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model import events

CURSORS: Final = 256
"""The most cursors of one opened queue."""


@dataclass(slots=True, eq=False)
class OpeningCursor(Asked):
    """The queue manager opens a cursor."""

    called: ClientCalled
    queue: OpenedQueue


def create_cursor(state: State, called: ClientCalled, now: Instant) -> None:
    """Create a cursor (R_QMCreateRemoteCursor); the queue need not have a session yet."""
    del now
    request = called.request
    assert isinstance(request, CreateRemoteCursor)
    queue = queue_of(state.server, request.queue, called.by)
    if queue is None:
        refuse(state, called, HResult.INVALID_HANDLE)
        return
    if len(queue.cursors) >= CURSORS:
        refuse(state, called, HResult.INSUFFICIENT_RESOURCES)
        return
    caller = number_for(state, OpeningCursor(called, queue))
    ask(state, events.OpenCursor(caller, queue.descriptor, by=queue.by))


def on_cursor_opened(state: State, opening: OpeningCursor, answer: events.Answer, now: Instant) -> None:
    """Return the number of its cursor to the client, or the status."""
    if not isinstance(answer, events.Opened) or answer.status is not HResult.OK:
        refuse(state, opening.called, STATUSES[answer.status])
        return
    cursors = opening.queue.cursors
    number = new_number(state.server, cursors, now)
    cursors[number] = answer.handle
    respond(state, opening.called, CursorCreated(number, HResult.OK))


def close_cursor(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQMCloseCursor: close one cursor of an opened queue."""
    del now
    request = called.request
    assert isinstance(request, CloseCursor)
    queue = queue_of(state.server, request.queue, called.by)
    if queue is None or request.cursor not in queue.cursors:
        refuse(state, called, HResult.INVALID_HANDLE)  # QP-101
        return
    cursor = queue.cursors.pop(request.cursor)
    ask(state, events.CloseCursor(number_for(state, Unattended()), cursor, by=queue.by))
    respond(state, called, StatusReturned(HResult.OK))  # QP-102

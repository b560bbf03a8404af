"""Performs requests that take a single call: Open Cursor, Close Cursor, Purge Queue (3.2.4.4, 3.2.4.8)."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.client.answers import failure
from reliquary.protocols.mqqp.client.calling import Returned, call
from reliquary.protocols.mqqp.client.state import Call, Link, Purpose, Task
from reliquary.protocols.mqqp.client.tasks import cancel, finish, is_open
from reliquary.protocols.mqqp.codec import qm2qm
from reliquary.protocols.mqqp.codec.qmcomm import CreateRemoteCursor, CursorCreated
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import Answer, CloseCursor, Opened, PeekMessage, Purged, ReceiveMessages


def open_cursor(state: State, link: Link, task: Task, now: Instant) -> None:
    """Ask the server to create a cursor, with a call of qmcomm (QP-016)."""
    del now
    call(state, link, Purpose.OPEN_CURSOR, CreateRemoteCursor(link.remote.queue), task=task.number)


def on_cursor_opened(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Store the cursor that the server created, and answer with the manager's number for it."""
    del now
    task, response = link.tasks[call.task], returned.response
    if returned.status == HResult.OK and isinstance(response, CursorCreated):
        link.cursors[task.opens] = response.cursor
        finish(state, link, task, Opened(HResult.OK, handle=task.opens))
    else:
        finish(state, link, task, failure(link.server, returned.status))


def close_cursor(state: State, link: Link, task: Task, now: Instant) -> None:
    """Close a cursor at the server (QP-100, QP-157); its reads are ended first, as in local queues."""
    del now
    request = task.request
    assert isinstance(request, CloseCursor)
    for each in list(link.tasks.values()):
        read = each.request
        moves = isinstance(read, ReceiveMessages | PeekMessage) and read.cursor == request.cursor
        if moves and is_open(each):
            cancel(state, link, each)
    cursor = link.cursors.pop(request.cursor)
    call(state, link, Purpose.CLOSE_CURSOR, qm2qm.CloseCursor(link.remote.queue, cursor), task=task.number)


def on_cursor_closed(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Answer the reader after the server closed its cursor."""
    del now
    task = link.tasks[call.task]
    done = returned.status == HResult.OK
    finish(state, link, task, Answer(HResult.OK) if done else failure(link.server, returned.status))


def purge(state: State, link: Link, task: Task, now: Instant) -> None:
    """Ask the server to purge the queue (QP-154)."""
    del now
    call(state, link, Purpose.PURGE, qm2qm.PurgeQueue(link.remote.queue), task=task.number)


def on_purged(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Answer the application after a purge; a status in a fault counts as returned (QP-111, F-05)."""
    del now
    task = link.tasks[call.task]
    if returned.status == HResult.OK:
        finish(state, link, task, Purged(HResult.OK, f"{link.server} does not say how many messages went"))
    else:
        finish(state, link, task, failure(link.server, returned.status))

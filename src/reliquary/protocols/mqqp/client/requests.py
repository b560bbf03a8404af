"""Handles the signals of the manager: a request of an application, and the end of an application."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.client import doubts, links, opening, receipts, tasks
from reliquary.protocols.mqqp.client.answers import refuse, reply
from reliquary.protocols.mqqp.client.phases import LinkPhase
from reliquary.protocols.mqqp.client.state import Link, Task
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access, Answer, Request
from reliquary.queueing.model.names.formats import key_of, parse_format
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.travel.remote import ReadElsewhere, ReaderGone

NO_TRANSACTION: Final = "MQQP has no transactions: queues of other managers are read outside of them"


def on_request(state: State, signal: ReadElsewhere, now: Instant) -> None:
    """Send a request of an application to the manager that has the queue."""
    doubts.arm(state, now)
    _RULES[type(signal.request)](state, signal, now)


def _open_queue(state: State, signal: ReadElsewhere, now: Instant) -> None:
    request = signal.request
    assert isinstance(request, events.OpenQueue)
    if request.access not in (Access.RECEIVE, Access.PEEK):
        status = HResult.UNSUPPORTED_ACCESS_MODE
        refuse(state, request, signal.number, Answer(status, status.sentence))
    else:
        opening.open_handle(state, request, signal.number, now)


def _close_queue(state: State, signal: ReadElsewhere, now: Instant) -> None:
    request = signal.request
    assert isinstance(request, events.CloseQueue)
    link = state.client.handles.get(request.handle)
    if link is None:
        refuse(state, request, 0, _not_open())
    else:
        opening.close(state, link, request.to, now)


def _not_open() -> Answer:
    return Answer(HResult.INVALID_HANDLE, HResult.INVALID_HANDLE.sentence)


def _read(state: State, signal: ReadElsewhere, now: Instant) -> None:
    """Begin a receive, peek, lookup or browse."""
    request: Any = signal.request
    if getattr(request, "transaction", None) is not None:
        refuse(state, request, signal.number, Answer(HResult.TRANSACTION_USAGE, NO_TRANSACTION))
    elif getattr(request, "acknowledge", 0):
        receipts.acknowledge(state, signal)
    else:
        _begin(state, signal, request.queue, _access(request), now)


def _access(request: Request) -> Access:
    """Return the access with which the queue must be open; a receive needs more than a peek."""
    peeks = isinstance(request, events.PeekMessage | events.BrowseMessages)
    peeks = peeks or (isinstance(request, events.LookUpMessage) and request.peek)
    return Access.PEEK if peeks else Access.RECEIVE


def _begin(state: State, signal: ReadElsewhere, queue: int | str, access: Access, now: Instant) -> None:
    """Begin a task on the open queue of a request; if the request gives a name, open that queue for it."""
    request: Any = signal.request
    cursor = getattr(request, "cursor", 0)
    if cursor and cursor not in _cursors_of(state, queue):
        why = f"cursor {cursor} is not open on this handle"
        refuse(state, request, signal.number, Answer(HResult.INVALID_PARAMETER, why))
        return
    if isinstance(queue, str):
        link: Link | HResult = opening.open_shared(state, queue, access, request.by)
    else:
        link = links.by_handle(state, queue, access)
    if isinstance(link, HResult):
        refuse(state, request, signal.number, Answer(link, link.sentence))
        return
    opening.start(state, link, tasks.add(state, link, request, signal.number, now), now)


def _cursors_of(state: State, queue: int | str) -> Container[int]:
    """Return the cursors of an open queue; a queue that was opened by name has none."""
    link = None if isinstance(queue, str) else state.client.handles.get(queue)
    return () if link is None else link.cursors


def _open_cursor(state: State, signal: ReadElsewhere, now: Instant) -> None:
    request = signal.request
    assert isinstance(request, events.OpenCursor)
    _begin(state, signal, request.handle, Access.PEEK, now)


def _close_cursor(state: State, signal: ReadElsewhere, now: Instant) -> None:
    request = signal.request
    assert isinstance(request, events.CloseCursor)
    found = (link for link in state.client.handles.values() if request.cursor in link.cursors)
    link = next(found, None)
    if link is None:
        refuse(state, request, 0, _not_open())
    else:
        _begin(state, signal, link.handle, Access.PEEK, now)


def _purge(state: State, signal: ReadElsewhere, now: Instant) -> None:
    request = signal.request
    assert isinstance(request, events.PurgeQueue)
    _begin(state, signal, request.path, Access.RECEIVE, now)


def _cancel(state: State, signal: ReadElsewhere, now: Instant) -> None:
    """Cancel a waiting read by its tag (Cancel Waiting Message Read Request); a later message is returned."""
    del now
    request = signal.request
    assert isinstance(request, events.CancelRead)
    for link in _links_of(state, request.queue):
        for task in link.tasks.values():
            if _has_tag(task, request) and tasks.waits(task):
                tasks.cancel(state, link, task)
                reply(state, request.to, Answer(HResult.OK))
                return
    status = HResult.STATUS_NOT_FOUND
    reply(state, request.to, Answer(status, status.sentence))


def _links_of(state: State, queue: int | str) -> list[Link]:
    """Return all links to a queue, which is identified by its name or by a handle."""
    client = state.client
    if isinstance(queue, str):
        key = key_of(parse_format(queue))
    elif queue in client.handles:
        key = client.handles[queue].key
    else:
        return []
    return [link for link in client.links.values() if link.key == key]


def _has_tag(task: Task, request: events.CancelRead) -> bool:
    waiting = task.request
    own = request.by in (MANAGER, waiting.by)
    return own and isinstance(waiting, events.ReceiveMessages) and 0 != waiting.tag == request.tag


def on_reader_gone(state: State, signal: ReaderGone, now: Instant) -> None:
    """End the request of a caller that disconnected or cancelled it, and answer the caller."""
    waiting = state.client.waiting.get(signal.caller)
    if isinstance(waiting, Link):
        if waiting.phase is not LinkPhase.CLOSING:
            opening.close(state, waiting, 0, now)
    elif isinstance(waiting, Task):
        tasks.cancel(state, state.client.links[waiting.link], waiting)
    elif waiting is not None:
        receipts.cancel(state, waiting)


_RULES: Final[Mapping[type[Request], Callable[[State, ReadElsewhere, Instant], None]]] = {
    events.OpenQueue: _open_queue,
    events.CloseQueue: _close_queue,
    events.OpenCursor: _open_cursor,
    events.CloseCursor: _close_cursor,
    events.ReceiveMessages: _read,
    events.LookUpMessage: _read,
    events.EndRead: receipts.end,
    events.PeekMessage: _read,
    events.BrowseMessages: _read,
    events.PurgeQueue: _purge,
    events.CancelRead: _cancel,
}
CARRIED: Final = tuple(_RULES)
"""Every kind of request that is carried to other managers."""

r"""Opens a queue of another manager, 3.2.4.1, and closes it, 3.2.4.9.

qmcomm   R_QMOpenRemoteQueue(DIRECT=OS:far\private$\orders)    numbers of the queue, a context handle
qm2qm    RemoteQMGetQMQMServerPort(IP_READ)                    its port: the calls below go there
         RemoteQmGetVersion                                    once for each link (H-14)
         RemoteQMOpenQueue                                     the session handle
qmcomm   R_QMCloseRemoteQueueContext                           no caller waits for its response
...
qm2qm    RemoteQMCloseQueue                                    then the connections are closed
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer
from reliquary.protocols.mqqp.client import changing, links, reading
from reliquary.protocols.mqqp.client.answers import await_answer, failure, reply
from reliquary.protocols.mqqp.client.calling import Returned, call
from reliquary.protocols.mqqp.client.losing import hang_up
from reliquary.protocols.mqqp.client.phases import (
    LinkMove,
    LinkPhase,
    TaskMove,
    moved_link,
    moved_task,
)
from reliquary.protocols.mqqp.client.receipts import give_all_back
from reliquary.protocols.mqqp.client.state import Call, Link, Purpose, Task
from reliquary.protocols.mqqp.client.tasks import cancel, is_open
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import HandleReturned, PortKind, PortReturned, VersionReturned
from reliquary.protocols.mqqp.codec.qmcomm import RemoteQueueOpened
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access, Answer, Opened, Share
from reliquary.queueing.model.names.formats import DirectName, key_of, parse_format
from reliquary.queueing.model.queue import QueueManagerRecord
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.model.tables import MANAGER, ONLY
from reliquary.wire.rpc.statuses import FaultStatus

_ACCESS: Final = {Access.RECEIVE: 0x01, Access.PEEK: 0x20}
"""The value of dwDesiredAccess for each access, [MS-MQMP] 3.1.4.2."""
_SHARE: Final = {Share.DENY_NONE: 0, Share.DENY_RECEIVE: 1}
NEW: Final = (5, 1, 951)
"""Servers before this version lack opnums 9 and 10 (H-13)."""


def open_handle(state: State, request: events.OpenQueue, handle: int, now: Instant) -> None:
    """Open a queue for an application, under a handle."""
    if request.share is Share.DENY_RECEIVE:
        _close_idle(state, key_of(parse_format(request.path)), now)
    link = _open(state, request.path, request.access, request.share, request.by)
    link.handle, link.lease, link.to = handle, request.lease, request.to
    await_answer(state, request.to, link)


def _close_idle(state: State, key: str, now: Instant) -> None:
    """Close the unused handles of a queue, which would exclude a reader that wants exclusive access."""
    for link in list(state.client.shared.values()):
        if link.key == key:
            on_idle(state, link.number, now)


def open_shared(state: State, path: str, access: Access, by: Principal) -> Link:
    """Return the link for requests of a user that name the queue; an idle link is used again."""
    name = parse_format(path)
    link = state.client.shared.get((key_of(name), access, by.user))
    if link is None:
        link = _open(state, path, access, Share.DENY_NONE, by)
        state.client.shared[link.key, access, by.user] = link
    else:
        state.draft.ask(CancelTimer((links.IDLE_TIMER, link.number)))
    return link


def _open(state: State, path: str, access: Access, share: Share, by: Principal) -> Link:
    name, client = parse_format(path), state.client
    assert isinstance(name, DirectName), f"{path} names no address"
    link = Link(client.next_number(), name.host, path, key_of(name), access, share, by)
    client.links[link.number] = link
    record = _manager(state)
    request = qmcomm.OpenRemoteQueue(
        path, _ACCESS[access], _SHARE[share], record.identifier, level=_level(record)
    )
    call(state, link, Purpose.OPEN, request)
    return link


def _manager(state: State) -> QueueManagerRecord:
    """Return the record of this manager, whose identifier is sent as pLicGuid (QP-087)."""
    record = state.rows.get(MANAGER, ONLY)
    assert record is not None, "a manager that was never started opens no queue"
    return record


def _level(record: QueueManagerRecord) -> int:
    """Return dwMQS, the role of this manager in the directory (QP-146)."""
    return int(record.routing_server or record.directory_server)


def on_opened(state: State, link: Link, call_: Call, returned: Returned, now: Instant) -> None:
    """Process the response of qmcomm; its out-parameters count only if it opened the queue."""
    del call_
    response = returned.response
    if returned.status != HResult.OK or not isinstance(response, RemoteQueueOpened):
        hang_up(state, link, failure(link.server, returned.status), now)
        return
    link.phase = moved_link(link.phase, LinkMove.OPENED)
    remote = link.remote
    remote.opened, remote.context = response.handle, response.context
    remote.queue, remote.queue_again = response.queue, response.queue_again
    call(state, link, Purpose.PORT, qm2qm.GetServerPort(PortKind.READ))  # QP-115, QP-145


def on_port(state: State, link: Link, call_: Call, returned: Returned, now: Instant) -> None:
    """Store the port of qm2qm that the server returned; 0 is a failure (QP-116)."""
    del call_
    response = returned.response
    if not isinstance(response, PortReturned):
        hang_up(state, link, failure(link.server, returned.status), now)
    elif not response.port:
        why = Answer(HResult.REMOTE_MACHINE_NOT_AVAILABLE, f"{link.server} has no port for remote reads")
        hang_up(state, link, why, now)
    else:
        link.phase = moved_link(link.phase, LinkMove.PORT)
        link.remote.port = response.port
        call(state, link, Purpose.VERSION, qm2qm.GetVersion())  # QP-149, QP-163


def on_version(state: State, link: Link, call_: Call, returned: Returned, now: Instant) -> None:
    """Record whether the server is old (QP-150), as is a server without the method RemoteQmGetVersion."""
    del call_
    response = returned.response
    if isinstance(response, VersionReturned):
        link.remote.old = (response.major, response.minor, response.build) < NEW
    elif returned.status == FaultStatus.OP_RANGE:
        link.remote.old = True
    else:
        hang_up(state, link, failure(link.server, returned.status), now)
        return
    link.phase = moved_link(link.phase, LinkMove.VERSION)
    record, remote = _manager(state), link.remote
    level = _level(record)
    request = qm2qm.OpenQueue(record.identifier, level, remote.queue, remote.queue_again, remote.context)
    call(state, link, Purpose.ENTER, request, limit=state.client.settings.open_time)  # QP-147


def on_entered(state: State, link: Link, call_: Call, returned: Returned, now: Instant) -> None:
    """Answer that the queue is open (QP-014), and start the tasks that waited for it."""
    del call_
    response = returned.response
    if returned.status != HResult.OK or not isinstance(response, HandleReturned):
        hang_up(state, link, failure(link.server, returned.status), now)
        return
    link.phase = moved_link(link.phase, LinkMove.ENTERED)
    link.remote.session = response.handle
    call(state, link, Purpose.FORGET, qmcomm.CloseRemoteQueueContext(link.remote.opened))
    if link.handle:
        state.client.handles[link.handle] = link
        links.renew(state, link)
        reply(state, link.to, Opened(HResult.OK, handle=link.handle))
        link.to = 0
    for task in list(link.tasks.values()):
        start(state, link, task, now)
    links.release(state, link)


def start(state: State, link: Link, task: Task, now: Instant) -> None:
    """Carry out a task, if its link is open (QP-040, QP-085, QP-109)."""
    if link.phase is LinkPhase.OPEN:
        task.phase = moved_task(task.phase, TaskMove.OPENED)
        _START[type(task.request)](state, link, task, now)


_START: Final[Mapping[type[events.Request], Callable[[State, Link, Task, Instant], None]]] = {
    events.ReceiveMessages: reading.start,
    events.PeekMessage: reading.start,
    events.LookUpMessage: reading.start,
    events.BrowseMessages: reading.start,
    events.OpenCursor: changing.open_cursor,
    events.CloseCursor: changing.close_cursor,
    events.PurgeQueue: changing.purge,
}


def close(state: State, link: Link, to: int, now: Instant) -> None:
    """Close a queue: cancel reads that wait, return locked messages, and close the session at the server."""
    for task in list(link.tasks.values()):
        if is_open(task):
            cancel(state, link, task)  # QP-156
    for receipt in list(link.receipts.values()):
        give_all_back(state, link, receipt)
    if link.phase is not LinkPhase.OPEN:
        hang_up(state, link, Answer(HResult.OPERATION_CANCELLED, "the queue was closed"), now)
        return
    links.withdraw(state, link)
    link.phase = moved_link(link.phase, LinkMove.CLOSE)
    link.to = to
    await_answer(state, to, link)
    call(state, link, Purpose.CLOSE, qm2qm.CloseQueue(link.remote.session))  # QP-094, QP-158


def on_closed(state: State, link: Link, call_: Call, returned: Returned, now: Instant) -> None:
    """Close the connections after the server closed the queue; the server unlocks messages by that."""
    del call_
    if returned.status != HResult.OK:
        reply(state, link.to, failure(link.server, returned.status))
        link.to = 0
    hang_up(state, link, Answer(HResult.OPERATION_CANCELLED, "the queue was closed"), now)


def on_idle(state: State, number: int, now: Instant) -> None:
    """Close a queue that was opened by name and that no request uses any more."""
    link = state.client.links.get(number)
    if link is not None and link.phase is LinkPhase.OPEN and not link.busy:
        close(state, link, 0, now)


def on_lease_end(state: State, handle: int, now: Instant) -> None:
    """Close a queue that was not used for too long; a waiting read counts as use."""
    link = state.client.handles.get(handle)
    if link is None:
        return
    if link.tasks or link.endings:
        links.renew(state, link)
    else:
        close(state, link, 0, now)

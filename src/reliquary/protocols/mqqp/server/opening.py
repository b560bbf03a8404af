r"""Opens a queue for a remote reader: [MS-MQMP] 3.1.4.2 and [MS-MQQP] 3.1.4.3.

R_QMOpenRemoteQueue    the right to read is checked; the client gets a DWORD and a context handle
RemoteQMOpenQueue      the client sends the DWORD, and gets the handle of its session
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import HandleReturned, OpenQueue
from reliquary.protocols.mqqp.codec.qmcomm import OpenRemoteQueue, RemoteQueueOpened
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.asking import ask, number_for
from reliquary.protocols.mqqp.server.closing import advance
from reliquary.protocols.mqqp.server.handles import new_handle, new_number, queue_of
from reliquary.protocols.mqqp.server.phases import OpenedQueueEvent, Phase
from reliquary.protocols.mqqp.server.responding import refuse, respond
from reliquary.protocols.mqqp.server.state import Asked, Context, OpenedQueue, Session
from reliquary.protocols.mqqp.server.statuses import STATUSES
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access, Share
from reliquary.queueing.model.names import schemes
from reliquary.queueing.model.names.formats import (
    DirectName,
    FormatName,
    MachineName,
    PrivateName,
    PublicName,
    parse_format,
)

ACCESS: Final[Mapping[int, Access]] = {0x01: Access.RECEIVE, 0x20: Access.PEEK}
"""The access that each value of dwDesiredAccess asks for."""
SHARE: Final[Mapping[int, Share]] = {0: Share.DENY_NONE, 1: Share.DENY_RECEIVE}
"""The share mode that each value of dwShareMode asks for."""
HERE: Final = "."
"""The name of this computer in a direct name."""


# -- R_QMOpenRemoteQueue


@dataclass(slots=True, eq=False)
class Opening(Asked):
    """The queue manager opens a queue."""

    called: ClientCalled
    name: FormatName
    """The format name as the client wrote it."""
    path: str
    access: Access
    share: Share


@dataclass(slots=True, eq=False)
class Naming(Asked):
    """The queue manager returns the name of this computer."""

    queue: OpenedQueue


def open_remote(state: State, called: ClientCalled, now: Instant) -> None:
    """R_QMOpenRemoteQueue: check the parameters, and ask the queue manager."""
    del now
    request = called.request
    assert isinstance(request, OpenRemoteQueue)
    access, share = ACCESS.get(request.access), SHARE.get(request.share)
    if request.name is None or access is None or share is None:
        refuse(state, called, HResult.INVALID_PARAMETER)
        return
    try:
        name = parse_format(request.name)
    except UsageError:
        refuse(state, called, HResult.ILLEGAL_FORMATNAME)
        return
    if not _can_be_read(name):
        refuse(state, called, HResult.UNSUPPORTED_FORMATNAME_OPERATION)
        return
    connection = state.server.connections[called.connection]
    if len(connection.association.contexts) >= state.settings.queues:
        refuse(state, called, HResult.INSUFFICIENT_RESOURCES)
        return
    path = own_name(name)
    caller = number_for(state, Opening(called, name, path, access, share))
    ask(state, events.OpenQueue(caller, path, access, share, by=called.by), connection.peer)


def _can_be_read(name: FormatName) -> bool:
    """Return whether a name means one queue; lists, multicast addresses and URLs are only destinations."""
    if isinstance(name, DirectName):
        return not name.scheme.is_url
    return isinstance(name, PublicName | PrivateName | MachineName)


def own_name(name: FormatName) -> str:
    """Return a direct name with this computer as its host, and other names unchanged."""
    # DEPARTS from 3.1.7.1.5 (DM-167): the host of a direct name is not compared with our own, because the
    # client reached us by it: it may be an alias, or an address that only the client's network knows.
    if isinstance(name, DirectName):
        name = DirectName(schemes.OS, HERE, name.path)
    return str(name)


def on_opened(state: State, opening: Opening, answer: events.Answer, now: Instant) -> None:
    """Return the handles to the client, or the status."""
    called, server = opening.called, state.server
    if not isinstance(answer, events.Opened) or answer.status is not HResult.OK:
        refuse(state, called, STATUSES[answer.status])
        return
    number = new_number(server, server.queues, now)
    queue = OpenedQueue(number, answer.handle, opening.path, opening.access, opening.share, called.by, now)
    server.queues[number] = queue
    association = server.connections[called.connection].association
    context = Context(new_handle(server, now), association, queue, now)
    server.handles[context.handle] = association.contexts[context.handle] = context
    _learn_computer(state, queue, opening.name)
    opened = RemoteQueueOpened(context.handle, number, number, number, HResult.OK)  # H-16
    respond(state, called, opened)


def _learn_computer(state: State, queue: OpenedQueue, name: FormatName) -> None:
    """Find out the name by which the client calls this computer.

    Names of local queues are completed with it.
    """
    if isinstance(name, DirectName):
        queue.computer = name.host
        return
    if isinstance(name, MachineName):  # it has no path; all private names of a computer contain its name
        name = PrivateName(name.computer, 1)
    ask(state, events.GetQueuePath(number_for(state, Naming(queue)), str(name)))


def on_named(state: State, naming: Naming, answer: events.Answer, now: Instant) -> None:
    """Store the name of this computer."""
    del state, now
    assert isinstance(answer, events.PathAnswer), f"the name of an open queue was read: {answer}"
    naming.queue.computer = answer.machine


# -- RemoteQMOpenQueue


def open_queue(state: State, called: ClientCalled, now: Instant) -> None:
    """Open a session (RemoteQMOpenQueue, 3.1.4.3), which takes over the queue that qmcomm opened."""
    request, server = called.request, state.server
    assert isinstance(request, OpenQueue)
    queue = queue_of(server, request.context, called.by)  # QP-090: 0 is the number of no queue
    # hQueue and dwMQS are ignored (QP-088, QP-089). DEPARTS from 3.1.4.3 (QP-093): the descriptor must
    # be there and without a session (H-11), because all later calls rely on it.
    if queue is None or request.queue_again != request.context or queue.phase is not Phase.OPENED:
        refuse(state, called, HResult.INVALID_PARAMETER)  # QP-091
        return
    association = server.connections[called.connection].association
    if len(association.sessions) >= state.settings.queues:
        refuse(state, called, HResult.INSUFFICIENT_RESOURCES)
        return
    session = Session(new_handle(server, now), association, queue, now, request.client)  # QP-092, QP-093
    server.handles[session.handle] = association.sessions[session.handle] = session
    queue.session = session
    advance(state, queue, OpenedQueueEvent.SESSION_OPENED)
    respond(state, called, HandleReturned(session.handle, HResult.OK))  # QP-086

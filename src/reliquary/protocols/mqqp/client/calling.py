"""Calls other managers: each call has a number, a purpose, and a time limit for its response."""

from __future__ import annotations

from typing import Final, NamedTuple

from reliquary.base.time import Duration
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.mqqp.client.state import Call, Link, PendingRead, Purpose
from reliquary.protocols.mqqp.codec import qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import Acknowledge, EndReceive, Request, Response
from reliquary.protocols.mqqp.effects import CallServer
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import FOREVER_WAIT
from reliquary.queueing.model.message import NO_OBJECT, ObjectId

TIMER: Final = "mqqp-call"
AT_ONCE: Final = Duration(0)
"""The wait of a method that returns immediately."""

_QMCOMM: Final = (qmcomm.OpenRemoteQueue, qmcomm.CloseRemoteQueueContext, qmcomm.CreateRemoteCursor)


class Returned(NamedTuple):
    """The result of a remote call: status and response."""

    status: int
    """The HRESULT, or the status of a fault; 0 for MQ_OK, and for methods without a status."""
    response: Response | None
    """The response; None for a fault."""


def call(
    state: State,
    link: Link,
    purpose: Purpose,
    request: Request,
    *,
    task: int = 0,
    ending: int = 0,
    read: int = 0,
    wait: Duration = AT_ONCE,
    limit: Duration | None = None,
) -> int:
    """Call the server of a link, and return the call's number; `wait` is how long the method may wait.

    The network binds before the first call of a link (QP-045, QP-161).
    """
    client = state.client
    number = client.next_request()
    client.calls[number] = Call(number, link.number, purpose, task, ending, read)
    link.calls.add(number)
    port = 0 if isinstance(request, _QMCOMM) else link.remote.port  # QP-145: qm2qm at the port it gave
    state.draft.ask(CallServer(link.number, number, link.server, port, request))
    if wait != FOREVER_WAIT:
        most = client.settings.call_time if limit is None else limit
        state.draft.ask(SetTimer((TIMER, number), Duration(most + wait)))
    return number


def end_receive(
    state: State,
    link: Link,
    purpose: Purpose,
    read: PendingRead,
    acknowledge: Acknowledge,
    *,
    task: int = 0,
    ending: int = 0,
) -> None:
    """End a read whose message came (QP-041, QP-070, QP-071); only a call that succeeded had one (QP-048)."""
    if acknowledge is Acknowledge.NACK:
        unlock(state, link, read)
    request = EndReceive(read.handle, acknowledge)
    call(state, link, purpose, request, task=task, ending=ending, read=read.request)


def give_back(state: State, link: Link, read: PendingRead) -> None:
    """Ask the server to make a message available again; the response changes nothing."""
    end_receive(state, link, Purpose.RETURN, read, Acknowledge.NACK)


def take(state: State, link: int, number: int) -> Call | None:
    """Forget a call that has ended, and return it; None if it was dropped before."""
    found = state.client.calls.get(number)
    if found is None or found.link != link:
        return None
    drop(state, found)
    return found


def drop(state: State, ended: Call) -> None:
    """Forget a call and cancel its timer; a late response is ignored."""
    client = state.client
    del client.calls[ended.number]
    client.links[ended.link].calls.discard(ended.number)
    state.draft.ask(CancelTimer((TIMER, ended.number)))


def begin_read(state: State, link: Link) -> PendingRead:
    """Add a pending read with a request number of its own (QP-143, QP-148)."""
    read = PendingRead(state.client.next_request())
    state.client.requests.add(read.request)
    link.reads[read.request] = read
    return read


def forget_read(state: State, link: Link, request: int) -> None:
    """Remove a pending read: it failed, was a peek, or was ended (QP-151, QP-152, QP-155)."""
    unlock(state, link, link.reads.pop(request))
    state.client.requests.discard(request)


def lock(state: State, link: Link, read: PendingRead) -> Link | None:
    """Record the link of a message; return another link that delivered it before and did not return it."""
    key = _message_key(link, read)
    if key is None:
        return None
    before, _ = state.client.locked.get(key, (None, None))
    state.client.locked[key] = link, read
    return None if before is link else before


def unlock(state: State, link: Link, read: PendingRead) -> None:
    """Forget the link of a message that was removed, or was returned and may come again."""
    key = _message_key(link, read)
    if key is not None and state.client.locked.get(key, (None, None))[1] is read:
        del state.client.locked[key]


def _message_key(link: Link, read: PendingRead) -> tuple[str, ObjectId] | None:
    """Return the queue and identifier of the message of a read; None without a message or identifier."""
    if read.delivered is None or read.delivered.message.identifier == NO_OBJECT:
        return None
    return link.key, read.delivered.message.identifier

"""Performs the first half of a read, 3.2.4.2, .3, .5, .6: it asks the server, and rebuilds the message.

             +---------------------- another one is wanted, or this one was delivered before
             v                                                     |
begin --> StartReceive, StartReceive2, ...ByLookupId --> MQ_OK: rebuild the message
             |                                                     |
             '--> any other status: what came before is delivered, '--> `settling.conclude`
                  or the application gets the failure
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from reliquary.base.hresult import HResult
from reliquary.base.time import MILLISECOND, Duration, Instant
from reliquary.protocols.mqqp.client import doubts, losing, settling
from reliquary.protocols.mqqp.client.answers import failure, unreachable
from reliquary.protocols.mqqp.client.calling import (
    Returned,
    begin_read,
    call,
    end_receive,
    forget_read,
    give_back,
    lock,
)
from reliquary.protocols.mqqp.client.links import release
from reliquary.protocols.mqqp.client.phases import TaskMove, TaskPhase, moved_task
from reliquary.protocols.mqqp.client.rebuilding import rebuild
from reliquary.protocols.mqqp.client.state import Call, Link, PendingRead, Purpose, Task
from reliquary.protocols.mqqp.client.tasks import finish, receives
from reliquary.protocols.mqqp.codec.qm2qm import (
    FOREVER,
    LAST,
    NO_HANDLE,
    Acknowledge,
    Action,
    ReadDescriptor,
    ReadStarted,
    ReadStarted2,
    StartReceive,
    StartReceive2,
    StartReceiveByLookupId,
)
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Answer,
    BrowseMessages,
    Delivered,
    LookUpMessage,
    PeekMessage,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.rules.read import ANSWER_BYTES
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.packet.fields import PacketFault

_LONGEST: Final = FOREVER - 1
"""The longest wait of a read that has a limit, in milliseconds."""

_SEEKS: Final[Mapping[tuple[Seek, bool], Action]] = {
    (Seek.FIRST, True): Action.LOOKUP_PEEK_NEXT,
    (Seek.NEXT, True): Action.LOOKUP_PEEK_NEXT,
    (Seek.CURRENT, True): Action.LOOKUP_PEEK_CURRENT,
    (Seek.PREVIOUS, True): Action.LOOKUP_PEEK_PREVIOUS,
    (Seek.LAST, True): Action.LOOKUP_PEEK_PREVIOUS,
    (Seek.FIRST, False): Action.LOOKUP_RECEIVE_NEXT,
    (Seek.NEXT, False): Action.LOOKUP_RECEIVE_NEXT,
    (Seek.CURRENT, False): Action.LOOKUP_RECEIVE_CURRENT,
    (Seek.PREVIOUS, False): Action.LOOKUP_RECEIVE_PREVIOUS,
    (Seek.LAST, False): Action.LOOKUP_RECEIVE_PREVIOUS,
}
"""The action of each seek, for peeks and for receives (QP-127)."""
_PLACES: Final = {Seek.FIRST: 0, Seek.LAST: LAST}
"""The LookupId of the seeks "first" and "last", which name no message."""
_END: Final = (HResult.MESSAGE_NOT_FOUND, HResult.IO_TIMEOUT)
"""The statuses that servers return for a read after the last message."""


class _Ask(NamedTuple):
    """The arguments of a read that is sent to a server."""

    action: Action
    cursor: int = 0
    wait: Duration = Duration(0)
    place: int | None = None
    """The LookupId; None for a read without one."""


def start(state: State, link: Link, task: Task, now: Instant) -> None:
    """Ask the server for the first message of a task."""
    refused = _refusal(link, task)
    if refused is None:
        _ask(state, link, task, now)
    else:
        finish(state, link, task, refused)


def _refusal(link: Link, task: Task) -> Answer | None:
    """Return the answer to a request that is not sent to the server; None for one that is sent."""
    request = task.request
    if not isinstance(request, LookUpMessage | BrowseMessages):
        return None
    if link.remote.old:
        status = HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER
        return Answer(status, f"{link.server} is too old to find messages by their LookupIdentifiers")
    if isinstance(request, BrowseMessages) or request.lookup_id:
        return None
    if request.seek in (Seek.CURRENT, Seek.PREVIOUS):  # QP-129: no message has the LookupIdentifier 0
        return failure(link.server, HResult.MESSAGE_NOT_FOUND)
    return None


def _ask(state: State, link: Link, task: Task, now: Instant) -> None:
    asked, read = _wanted(link, task, now), begin_read(state, link)
    task.read = read.request
    # QP-018, QP-020, QP-124: size 0 and no buffer; both numbers of the queue as qmcomm gave them.
    descriptor = ReadDescriptor(
        queue=link.remote.queue,
        action=asked.action,
        timeout=_milliseconds(asked.wait),
        request=read.request,
        cursor=asked.cursor,
        queue_again=link.remote.queue_again,
    )
    request: StartReceive | StartReceive2 | StartReceiveByLookupId
    if asked.place is not None:
        request = StartReceiveByLookupId(asked.place, descriptor)
    elif link.remote.old:
        request = StartReceive(descriptor)  # QP-150
    else:
        request = StartReceive2(descriptor)
    task.call = call(state, link, Purpose.READ, request, task=task.number, read=read.request, wait=asked.wait)


def _wanted(link: Link, task: Task, now: Instant) -> _Ask:
    request = task.request
    match request:
        case ReceiveMessages():
            return _Ask(Action.RECEIVE, _cursor(link, request.cursor), _wait(task, now))
        case PeekMessage():
            action = Action.PEEK_NEXT if request.next else Action.PEEK_CURRENT
            return _Ask(action, _cursor(link, request.cursor), _wait(task, now))  # QP-049, QP-050
        case LookUpMessage():
            place = _PLACES.get(request.seek, request.lookup_id)
            return _Ask(_SEEKS[request.seek, request.peek], place=place)  # QP-128: no cursor and no wait
        case _:
            assert isinstance(request, BrowseMessages), f"{request} asks for no message"
            return _Ask(Action.LOOKUP_PEEK_NEXT, place=_place(task, request))


def _cursor(link: Link, cursor: int) -> int:
    """Return hCursor as R_QMCreateRemoteCursor gave it (QP-016, QP-153)."""
    return link.cursors[cursor] if cursor else 0


def _wait(task: Task, now: Instant) -> Duration:
    """Return how long the server may wait: the remaining time for the first message, 0 for all others."""
    if task.came:
        return Duration(0)
    if task.deadline is None:
        return FOREVER_WAIT
    return Duration(max(task.deadline - now, 0))


def _milliseconds(wait: Duration) -> int:
    if wait == FOREVER_WAIT:
        return FOREVER  # QP-017
    return min(-(-wait // MILLISECOND), _LONGEST)


def on_started(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Process the response to a read: a message, or the reason why there is none."""
    task, read = link.tasks[call.task], link.reads[call.read]
    response = returned.response
    if returned.status != HResult.OK or not isinstance(response, ReadStarted | ReadStarted2):
        forget_read(state, link, read.request)
        _end(state, link, task, failure(link.server, returned.status))
        return
    read.handle = response.handle if receives(task) else NO_HANDLE
    if task.phase is TaskPhase.ABANDONED:
        _put_down(state, link, read)
        finish(state, link, task, Answer(HResult.OPERATION_CANCELLED))
        return
    refused = _rebuild(link, task, read, response)
    if refused is not None:
        _put_down(state, link, read)  # T43, H-27
        _end(state, link, task, refused)
    elif receives(task) and _came_before(state, link, read, now):
        task.phase = moved_task(task.phase, TaskMove.KNOWN)
        end_receive(state, link, Purpose.DROP, read, Acknowledge.ACK, task=task.number)
    else:
        _collect(state, link, task, read, now)


def _came_before(state: State, link: Link, read: PendingRead, now: Instant) -> bool:
    """Return whether a message was delivered before.

    A message that comes by a second link was restored by the server, which has lost the first link
    without a notice.  The first link is ended, so that its deliveries are settled (F-06).
    """
    before = lock(state, link, read)
    if before is not None:
        why = "it has given back a message that was locked for this connection"
        losing.hang_up(state, before, unreachable(link.server, Failure.LOST, why), now)
    return doubts.is_known(state, link, settling.message_of(read).message)


def _put_down(state: State, link: Link, read: PendingRead) -> None:
    """Return a message without a reader to its queue; a read without a handle has locked none."""
    if read.handle == NO_HANDLE:
        forget_read(state, link, read.request)
    else:
        give_back(state, link, read)


def _rebuild(
    link: Link, task: Task, read: PendingRead, response: ReadStarted | ReadStarted2
) -> Answer | None:
    """Rebuild the message of a read, or return the reason why its packet cannot be read."""
    descriptor = response.read
    if descriptor is None or descriptor.packet is None:
        return Answer(HResult.ERROR, f"{link.server} returned no message with its success")
    if receives(task) and response.handle == NO_HANDLE:  # QP-046
        return Answer(
            HResult.ERROR, f"{link.server} returned a message without a handle to end the read with"
        )
    sequential = response.sequential if isinstance(response, ReadStarted2) else 0
    try:
        read.delivered = rebuild(descriptor.packet, descriptor.arrived, sequential, read.request)
    except PacketFault as why:
        return Answer(HResult.ERROR, f"{link.server} returned a message that cannot be read: {why}")
    return None


def _collect(state: State, link: Link, task: Task, read: PendingRead, now: Instant) -> None:
    """Add a message to its task, and request the next one or deliver all of them."""
    message = settling.message_of(read)
    task.size += message.position.size
    if receives(task):
        task.came.append(read)
    else:
        forget_read(state, link, read.request)
        if not _is_further(task, message):
            why = f"{link.server} orders its messages in a way that they cannot be browsed by"
            finish(state, link, task, Answer(HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER, why))
            return
        task.done.append(message)
    if _wants_more(task):
        task.phase = moved_task(task.phase, TaskMove.MORE)
        _ask(state, link, task, now)
    else:
        settling.conclude(state, link, task)


def _is_further(task: Task, message: Delivered) -> bool:
    """Return whether a browse makes progress with this message.

    It makes none if the LookupIdentifier that was made from the packet differs from that of the server.
    """
    if not isinstance(task.request, BrowseMessages):
        return True
    return message.position.lookup_id > _place(task, task.request)


def _place(task: Task, request: BrowseMessages) -> int:
    """Return the LookupIdentifier after which a browse continues."""
    return task.done[-1].position.lookup_id if task.done else max(request.after, 0)


def _wants_more(task: Task) -> bool:
    request, size = task.request, task.size
    if isinstance(request, BrowseMessages):
        return len(task.done) < request.limit and size < ANSWER_BYTES
    if not isinstance(request, ReceiveMessages) or request.cursor:
        return False
    return len(task.came) < request.count and size < ANSWER_BYTES


def _end(state: State, link: Link, task: Task, why: Answer) -> None:
    """Deliver the messages of a task that gets no further ones; without any, answer with the reason."""
    over = isinstance(task.request, BrowseMessages) and why.status in _END
    if task.phase is not TaskPhase.ABANDONED and (task.came or task.done or over):
        settling.conclude(state, link, task)
    else:
        finish(state, link, task, why)


def on_dropped(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Process the removal of a message that was delivered before, which may have failed."""
    task, read = link.tasks[call.task], link.reads[call.read]
    forget_read(state, link, read.request)
    if returned.status != HResult.OK:
        _end(state, link, task, failure(link.server, returned.status))
        return
    doubts.settle(state, link, settling.message_of(read).message)
    if task.phase is TaskPhase.ABANDONED:
        finish(state, link, task, Answer(HResult.OPERATION_CANCELLED))
    else:
        task.phase = moved_task(task.phase, TaskMove.DROPPED)
        _ask(state, link, task, now)


def on_returned(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Forget the read of a message that was returned to its queue."""
    del returned, now
    forget_read(state, link, call.read)
    release(state, link)

"""Open and close queues and cursors, begin and end waits: [MS-MQDMPR] 3.1.7.1.1, .2, .5, .6.

A handle is the number of a descriptor, and a descriptor is an open queue.  A request that names a queue by
its name gets a descriptor for this request only (`one_request`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.queueing.model.cursors import Cursor
from reliquary.queueing.model.descriptors import ALLOWS, Descriptor, sharing_violated
from reliquary.queueing.model.events import FOREVER_WAIT, Access, Answer, Share
from reliquary.queueing.model.names.formats import MultipleName, SingleName
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.parts.name_index import SendTarget
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.waiting import NEXT, Waiter, WaitingReadEvent, WaitingReadState
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.outgoing import destination_of
from reliquary.queueing.rules.poison import give_back

_RECEIVE: Final = Access.RECEIVE
_DENY_NONE: Final = Share.DENY_NONE
_DENY_RECEIVE: Final = Share.DENY_RECEIVE


def open_queue(
    state: State,
    path: str,
    access: Access,
    share: Share,
    now: Instant,
    *,
    lease: Duration = FOREVER_WAIT,
    one_request: bool = False,
) -> Descriptor | HResult:
    """Open a queue and return its descriptor, or the reason of the refusal (Open Queue)."""
    queue = destinations.to_receive(state, path) if access is _RECEIVE else None
    if queue is None:
        name = destinations.expanded(state, path, access)  # DM-159
        if name is None:
            return HResult.ILLEGAL_FORMATNAME
        if isinstance(name, MultipleName):
            return _open_several(state, name, access, share, now, lease)
        found = destinations.queue_named(state, name, access, now)
        if isinstance(found, HResult):
            return found
        queue = found
    may_clash = queue.readers.exclusive or share is _DENY_RECEIVE
    if may_clash and sharing_violated(queue.readers.descriptors.values(), access, share):
        return HResult.SHARING_VIOLATION
    # DEPARTS from 3.1.7.1.5 (AN-16): the share mode is kept on the descriptor, because the check
    # for sharing violations reads it there.
    descriptor = Descriptor(
        state.numbers.next_handle(),
        queue.number,
        path,
        access,
        share,
        state.turn.by,
        lease=lease,
        one_request=one_request,
    )  # DM-178
    queue.readers.descriptors[descriptor.handle] = descriptor
    queue.readers.exclusive += share is _DENY_RECEIVE
    state.open.handles[descriptor.handle] = descriptor
    renew(state, descriptor)
    return descriptor


def _open_several(
    state: State, name: MultipleName, access: Access, share: Share, now: Instant, lease: Duration
) -> Descriptor | HResult:
    """Open several queues under one handle, for sending only; if one cannot be opened, none is."""
    if access is not Access.SEND:
        return HResult.UNSUPPORTED_FORMATNAME_OPERATION  # DM-160
    if share is not Share.DENY_NONE:
        return HResult.UNSUPPORTED_ACCESS_MODE  # DM-160
    parent = Descriptor(
        state.numbers.next_handle(), None, str(name), access, by=state.turn.by, lease=lease
    )  # DM-161
    state.open.handles[parent.handle] = parent
    for element in name.elements:  # DM-162
        child = open_queue(state, str(element), access, share, now)
        if isinstance(child, HResult):
            close_queue(state, parent, now)
            return child
        parent.children.append(child.handle)
    renew(state, parent)
    return parent


def opened_ways(state: State, target: int, now: Instant) -> Sequence[SendTarget] | HResult:
    """Return the destinations of a send to a handle."""
    descriptor = use(state, target, Access.SEND, now)
    if isinstance(descriptor, HResult):
        return descriptor
    handles = [state.open.handles[child] for child in descriptor.children] or [descriptor]
    found = []
    for each in handles:
        queue = queue_of(state, each)
        if queue is None:
            return HResult.QUEUE_NOT_AVAILABLE  # AN-47
        found.append(SendTarget(_name_of(state, each, queue), queue, destinations.carrier_to(state, queue)))
    return found


def _name_of(state: State, descriptor: Descriptor, queue: QueueState) -> Pathname | SingleName:
    """Return the name by which a queue was opened; for an outgoing queue, its destination."""
    if queue.record.outgoing is not None:
        return destination_of(queue)
    name = destinations.read_name(state, descriptor.format_name, Access.SEND)
    assert not isinstance(name, MultipleName), f"{name} was opened as one queue"
    return name


def close_queue(state: State, descriptor: Descriptor, now: Instant) -> None:
    """Close a queue: end its waiting reads, close its cursors, unlock its messages (Close Queue)."""
    # DEPARTS from 3.1.7.1.6 (AN-15): the children are closed before the missing queue of their
    # parent is noticed, because no other request could close them.
    for child in descriptor.children:
        close_queue(state, state.open.handles[child], now)  # DM-180
    queue = queue_of(state, descriptor)
    if queue is not None:  # DM-179
        # DEPARTS from 3.1.7.1.6 (AN-24): waits without a tag end too, because no request could
        # end them afterwards.
        waiting = list(queue.readers.waiting.values()) if descriptor.waits else []
        for waiter in [each for each in waiting if each.descriptor == descriptor.handle]:
            end_wait(state, queue, waiter, WaitingReadEvent.CLOSED)  # DM-181
        if descriptor.locked:
            give_back(state, queue, sorted(descriptor.locked & queue.order.locked.keys()), now)
        del queue.readers.descriptors[descriptor.handle]  # DM-183
        queue.readers.exclusive -= descriptor.share is _DENY_RECEIVE
    for handle in descriptor.cursors:
        del state.open.cursors[handle]  # DM-182
    del state.open.handles[descriptor.handle]
    if descriptor.lease != FOREVER_WAIT:
        state.draft.ask(CancelTimer(("lease", descriptor.handle)))


def close_if_done(state: State, descriptor: Descriptor, now: Instant) -> None:
    """Close a queue that was opened for one request, unless the request waits or has locked messages."""
    busy = descriptor.locked or descriptor.waits
    if descriptor.one_request and not busy and descriptor.handle in state.open.handles:
        close_queue(state, descriptor, now)


def use(state: State, target: int | str, access: Access, now: Instant) -> Descriptor | HResult:
    """Return the open queue of a request: found by its handle, or opened by its name for this request."""
    if isinstance(target, str):
        return open_queue(state, target, access, _DENY_NONE, now, one_request=True)
    descriptor = state.open.handles.get(target)
    if descriptor is None or descriptor.one_request:
        return HResult.INVALID_HANDLE
    if access not in ALLOWS[descriptor.access]:
        return HResult.ACCESS_DENIED
    if descriptor.queue is None and not descriptor.children:
        return HResult.QUEUE_NOT_AVAILABLE  # DM-199, DM-217, DM-223, DM-226
    renew(state, descriptor)
    return descriptor


def queue_of(state: State, descriptor: Descriptor) -> QueueState | None:
    """Return the queue of a descriptor; None once the queue is deleted."""
    return None if descriptor.queue is None else state.queues[descriptor.queue]


def renew(state: State, descriptor: Descriptor) -> None:
    """Start the lease of a handle again, because it was used."""
    if descriptor.lease != FOREVER_WAIT:
        state.draft.ask(SetTimer(("lease", descriptor.handle), descriptor.lease))


def on_lease_end(state: State, handle: int, now: Instant) -> None:
    """Close a handle that was not used during its lease, and unlock its messages."""
    descriptor = state.open.handles.get(handle)
    if descriptor is None:
        return
    if descriptor.waits:  # a waiting read counts as use
        renew(state, descriptor)
    else:
        close_queue(state, descriptor, now)


# -- cursors


def open_cursor(state: State, descriptor: Descriptor) -> Cursor:
    """Create a cursor on an open queue: Open Cursor (DM-132) and Initialize (DM-325)."""
    cursor = Cursor(state.numbers.next_handle(), descriptor.handle)
    state.open.cursors[cursor.handle] = cursor
    descriptor.cursors.add(cursor.handle)
    return cursor


def close_cursor(state: State, cursor: Cursor) -> None:
    """End the reads that wait at a cursor and remove it: Close Cursor (DM-133, DM-134)."""
    descriptor = state.open.handles[cursor.descriptor]
    queue = queue_of(state, descriptor)
    if queue is not None:
        for waiter in [
            each for each in queue.readers.waiting.values() if each.request.cursor == cursor.handle
        ]:
            end_wait(state, queue, waiter, WaitingReadEvent.CLOSED)
    descriptor.cursors.discard(cursor.handle)
    del state.open.cursors[cursor.handle]


# -- waits


def begin_wait(state: State, queue: QueueState, waiter: Waiter) -> None:
    """Add a waiting read and start its timer: Wait For New Message, 3.1.7.3.1 (DM-300)."""
    queue.readers.waiting[waiter.number] = waiter
    state.open.handles[waiter.descriptor].waits += 1
    state.open.callers[waiter.request.to] = (queue.number, waiter.number)
    if waiter.request.timeout != FOREVER_WAIT:  # DM-076
        state.draft.ask(SetTimer(("wait", waiter.number), waiter.request.timeout))  # DM-079, DM-314


def stop_wait(state: State, queue: QueueState, waiter: Waiter) -> None:
    """Remove a waiting read and its timer; the caller answers the reader (DM-302)."""
    del queue.readers.waiting[waiter.number]  # DM-301
    state.open.handles[waiter.descriptor].waits -= 1
    state.open.callers.pop(waiter.request.to, None)
    if waiter.request.timeout != FOREVER_WAIT:
        state.draft.ask(CancelTimer(("wait", waiter.number)))


def end_wait(state: State, queue: QueueState, waiter: Waiter, event: WaitingReadEvent) -> None:
    """End a wait without a message and answer the reader (DM-315).

    This is Waiting Message Read Timer Stop, 3.1.7.3.5.
    """
    _, status = NEXT[WaitingReadState.WAITING, event]
    stop_wait(state, queue, waiter)
    if waiter.request.cursor:
        state.open.cursors[waiter.request.cursor].timed_out()  # DM-331
    state.reply(waiter.request.to, Answer(status, status.sentence))
    if state.open.handles[waiter.descriptor].one_request:  # opened for this wait, which has locked no message
        del state.open.handles[waiter.descriptor], queue.readers.descriptors[waiter.descriptor]

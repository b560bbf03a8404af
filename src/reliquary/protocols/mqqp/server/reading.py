"""Reads messages by RemoteQMStartReceive, ...Receive2 and ...ReceiveByLookupId: [MS-MQQP] 3.1.4.1, .10, .11.

checks --refused--> status
   |
   '--> entry in the collection --> queue manager --> on_read --> packet, and a handle for a receive
                                         | no message
                                         '--> waits until a message, the time-out, or a cancel
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from reliquary.base.hresult import HResult
from reliquary.base.time import MILLISECOND, Duration, Instant, in_whole_seconds
from reliquary.protocols.mqqp.codec.qm2qm import (
    FOREVER,
    LAST,
    NO_HANDLE,
    Action,
    ReadDescriptor,
    ReadStarted,
    ReadStarted2,
    StartReceive,
    StartReceive2,
    StartReceiveByLookupId,
)
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.asking import Unattended, ask, number_for
from reliquary.protocols.mqqp.server.handles import new_handle, queue_of
from reliquary.protocols.mqqp.server.packets import packet_of
from reliquary.protocols.mqqp.server.responding import fault, refuse, respond
from reliquary.protocols.mqqp.server.state import Ending, Held, OpenedQueue, Read
from reliquary.protocols.mqqp.server.statuses import STATUSES, Status
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Answer,
    Delivered,
    EndRead,
    LookUpMessage,
    PeekMessage,
    Received,
    ReceiveMessages,
    Request,
    Seek,
)
from reliquary.wire.rpc.statuses import FaultStatus

SEQUENTIAL: Final = 0x00FF_FFFF_FFFF_FFFF
"""The low seven bytes of a LookupIdentifier (QP-123)."""
ACTIONS: Final = frozenset({Action.RECEIVE, Action.PEEK_CURRENT, Action.PEEK_NEXT})
"""The actions of opnums 0 and 9; opnum 10 has `SEEKS`."""


class Search(NamedTuple):
    """The effect of an action of opnum 10."""

    seek: Seek
    receives: bool


SEEKS: Final[Mapping[int, Search]] = {
    Action.LOOKUP_PEEK_CURRENT: Search(Seek.CURRENT, receives=False),
    Action.LOOKUP_PEEK_NEXT: Search(Seek.NEXT, receives=False),
    Action.LOOKUP_PEEK_PREVIOUS: Search(Seek.PREVIOUS, receives=False),
    Action.LOOKUP_RECEIVE_CURRENT: Search(Seek.CURRENT, receives=True),
    Action.LOOKUP_RECEIVE_NEXT: Search(Seek.NEXT, receives=True),
    Action.LOOKUP_RECEIVE_PREVIOUS: Search(Seek.PREVIOUS, receives=True),
}
"""The search of each action by LookupIdentifier (QP-133)."""
ENDS: Final[Mapping[tuple[Seek, int], Seek]] = {(Seek.NEXT, 0): Seek.FIRST, (Seek.PREVIOUS, LAST): Seek.LAST}
"""LookupIds that mean an end of the queue (QP-133, H-22)."""


# -- opnums 0 and 9


def start_receive(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQMStartReceive and RemoteQMStartReceive2 (3.1.4.1, 3.1.4.10)."""
    request = called.request
    assert isinstance(request, StartReceive | StartReceive2)
    wanted = request.read
    if wanted is None:
        refuse(state, called, HResult.INVALID_HANDLE)  # QP-053, QP-125
        return
    queue = queue_of(state.server, wanted.queue, called.by)
    status = _judge(queue, wanted)
    if status or queue is None:
        refuse(state, called, status)
        return
    read = _enter(state, called, queue, wanted, now, receives=wanted.action == Action.RECEIVE)
    if read is not None:
        ask(state, _request(read), read.connection.peer)


def _judge(queue: OpenedQueue | None, wanted: ReadDescriptor) -> int:
    """Return the reason why a read is refused, or 0 (QP-126)."""
    if wanted.queue_again == 0 or wanted.queue_again != wanted.queue:
        return HResult.INVALID_PARAMETER  # QP-054
    if queue is not None and wanted.request in queue.pending:
        return HResult.INVALID_PARAMETER  # QP-055
    if wanted.action == Action.PEEK_NEXT and not wanted.cursor:
        return Status.INVALID_ARGUMENT  # QP-056
    if queue is None or queue.session is None:
        return HResult.INVALID_PARAMETER  # QP-057, QP-058
    if wanted.cursor and wanted.cursor not in queue.cursors:
        return Status.INVALID_ARGUMENT  # QP-059
    # H-30: the text has no rule for an action that it does not name, and no event belongs to one.
    return 0 if wanted.action in ACTIONS else HResult.INVALID_PARAMETER


def _request(read: Read) -> Request:
    """Return the event of the queue manager for an action; the manager runs the Call Timer, too."""
    wanted, queue = read.descriptor, read.queue
    waits = FOREVER_WAIT if wanted.timeout == FOREVER else Duration(wanted.timeout * MILLISECOND)  # QP-036
    cursor = queue.cursors[wanted.cursor] if wanted.cursor else 0
    if read.receives:  # QP-061
        return ReceiveMessages(
            read.caller, queue.descriptor, timeout=waits, hold=FOREVER_WAIT, cursor=cursor, by=queue.by
        )
    is_next = wanted.action == Action.PEEK_NEXT
    return PeekMessage(read.caller, queue.descriptor, waits, cursor, is_next, by=queue.by)  # QP-062


def _enter(
    state: State,
    called: ClientCalled,
    queue: OpenedQueue,
    wanted: ReadDescriptor,
    now: Instant,
    *,
    receives: bool,
) -> Read | None:
    """Add a RemoteReadEntry to the collection (QP-060); None if the client has too many."""
    connection = state.server.connections[called.connection]
    association = connection.association
    if called.call in connection.reads:  # the client could not distinguish the two responses
        fault(state, called, FaultStatus.PROTOCOL)
        return None
    if association.load >= state.settings.pending:
        refuse(state, called, HResult.INSUFFICIENT_RESOURCES)
        return None
    read = Read(called, connection, queue, wanted, receives, now)
    read.caller = number_for(state, read)
    association.reads[read.caller] = connection.reads[called.call] = read
    queue.pending.setdefault(wanted.request, read)
    return read


# -- opnum 10


def start_receive_by_lookup_id(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQMStartReceiveByLookupId: begin to read by LookupIdentifier."""
    request = called.request
    assert isinstance(request, StartReceiveByLookupId)
    wanted = request.read
    if wanted is None:
        refuse(state, called, HResult.INVALID_HANDLE)  # QP-130, H-25
        return
    search = SEEKS.get(wanted.action)
    queue = queue_of(state.server, wanted.queue, called.by)
    is_wrong = (
        wanted.queue == 0  # QP-131
        or wanted.timeout != 0
        or wanted.cursor != 0
        or search is None
        or (request.lookup_id == 0 and search.seek is not Seek.NEXT)  # QP-129, H-25
    )
    if is_wrong or search is None or queue is None or queue.session is None:
        refuse(state, called, HResult.INVALID_PARAMETER)  # QP-132
        return
    read = _enter(state, called, queue, wanted, now, receives=search.receives)
    if read is None:
        return
    look_up = LookUpMessage(
        read.caller,
        queue.descriptor,
        request.lookup_id,
        ENDS.get((search.seek, request.lookup_id), search.seek),
        peek=not search.receives,
        # DEPARTS from 3.1.4.11 (QP-133): a receive is two-phase (H-06), because a lost response would lose
        # the message.
        hold=FOREVER_WAIT if search.receives else Duration(0),
        by=queue.by,
    )
    ask(state, look_up, read.connection.peer)


# -- what the queue manager answers


def on_read(state: State, read: Read, answer: Answer, now: Instant) -> None:
    """Return from a call whose read has ended."""
    _leave(read)
    found = answer.messages[0] if isinstance(answer, Received) and answer.messages else None
    if read.ending is not None:
        if found is not None:
            give_back(state, read, found)
        _return_ended(state, read, read.ending)
    elif found is None:
        refuse(state, read.called, STATUSES[answer.status])
    else:
        _deliver(state, read, found, now)


def _leave(read: Read) -> None:
    """Remove an entry from the collection before the call returns (QP-064)."""
    del read.connection.association.reads[read.caller]
    del read.connection.reads[read.called.call]
    if read.queue.pending.get(read.descriptor.request) is read:
        del read.queue.pending[read.descriptor.request]


def _return_ended(state: State, read: Read, ending: Ending) -> None:
    """Return from a call whose read was ended (H-19)."""
    if ending is Ending.BY_CLIENT:
        refuse(state, read.called, Status.CANCELLED_BY_CLIENT)  # QP-107
    elif ending is Ending.CALL_CANCELLED:
        fault(state, read.called, FaultStatus.CANCELLED)


def _deliver(state: State, read: Read, found: Delivered, now: Instant) -> None:
    """Return a message; a receive gets the handle under which it stays locked."""
    packet = packet_of(found, read.queue.computer)
    if packet is None:  # F-17
        give_back(state, read, found)
        refuse(state, read.called, Status.FAILED)
        return
    handle = NO_HANDLE
    if read.receives:  # QP-046, QP-065
        handle = new_handle(state.server, now)
        association, queue = read.connection.association, read.queue
        held = Held(handle, association, queue, now, found.position.lookup_id, read.descriptor.request)
        state.server.handles[handle] = association.held[handle] = queue.held[handle] = held
    wanted = read.descriptor
    returned = ReadDescriptor(
        wanted.queue,
        wanted.action,
        wanted.timeout,
        wanted.request,
        wanted.cursor,
        wanted.queue_again,
        1,  # QP-023
        in_whole_seconds(Instant(found.position.arrived)),  # QP-024, H-24
        packet,  # QP-026, QP-063
    )
    if isinstance(read.called.request, StartReceive):
        respond(state, read.called, ReadStarted(handle, returned, HResult.OK))
    else:
        sequential = found.position.lookup_id & SEQUENTIAL
        respond(state, read.called, ReadStarted2(handle, returned, sequential, HResult.OK))


def give_back(state: State, read: Read, found: Delivered) -> None:
    """Unlock a message that its reader did not get."""
    if read.receives:
        ask(
            state,
            EndRead(
                number_for(state, Unattended()),
                read.queue.descriptor,
                delete=False,
                lookup_ids=(found.position.lookup_id,),
                unseen=True,
            ),
            read.connection.peer,
        )

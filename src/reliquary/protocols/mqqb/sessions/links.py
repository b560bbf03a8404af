"""Reports to the manager about the sessions of its outgoing queues: ConnectionChanged, ResendWanted.

queue wants a connection --> bound to a session --> CONNECTED when the session is open
                                                '-> FAILED, CLEANED_UP or DISCONNECTED when it ends
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from itertools import islice
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.protocols.mqqb.state import Entry, Session, SessionQueue, State
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import ConnectionChanged, ResendWanted, TransferAccepted

AHEAD: Final = 8
"""The multiple of the window that the manager hands out, so that one sync serves several windows."""
LEAST_AHEAD: Final = 2
"""The multiple for a queue that shares its session with many others."""
ERRORS: Final[Mapping[ConnectionStatus, HResult]] = {
    ConnectionStatus.UNKNOWN_FAILURE: HResult.ERROR,
    ConnectionStatus.CONNECTION_NOT_READY: HResult.IO_TIMEOUT,
    ConnectionStatus.LOW_RESOURCE: HResult.INSUFFICIENT_RESOURCES,
    ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE: HResult.NO_DS,
}
"""The HRESULT of each failure that does not mean that the computer cannot be reached."""


def hop(address: str) -> str:
    """Return an address as NextHops writes it (QB-173).

    >>> hop("10.0.0.7"), hop("fe80::1")
    ('IP=10.0.0.7', 'IPv6=fe80::1')
    """
    try:
        return f"IPv6={address}" if ip_address(address.partition("%")[0]).version == 6 else f"IP={address}"
    except ValueError:
        return address


def bind(session: Session, outgoing: SessionQueue) -> None:
    """Let an outgoing queue use a session, now or when it is open."""
    outgoing.session = session.number
    session.queues.add(outgoing.queue)


def connect(state: State, session: Session, outgoing: SessionQueue) -> None:
    """Report to the manager that a queue is connected; parked entries are put into the outbox."""
    bind(session, outgoing)
    outgoing.paused, outgoing.used = False, True
    parked, outgoing.parked = outgoing.parked, []
    session.outbox.extend(entry for entry in parked if entry.live)
    state.draft.signal(
        ConnectionChanged(
            outgoing.queue,
            OutgoingEvent.CONNECTED,
            ConnectionStatus.ESTABLISHED,
            addresses=(hop(session.address),),
            at_once=max(AHEAD // len(session.queues), LEAST_AHEAD) * session.window,
            most_bytes=state.settings.most_bytes,
        )
    )


def park(session: Session, outgoing: SessionQueue) -> None:
    """Take the entries of a paused queue out of the outbox; when it is resumed, they are first again."""
    if any(entry.queue == outgoing.queue for entry in session.outbox):
        entries = list(session.outbox)
        session.outbox.clear()
        session.outbox.extend(entry for entry in entries if entry.queue != outgoing.queue)
        outgoing.parked.extend(entry for entry in entries if entry.queue == outgoing.queue)


def begun(state: State, session: Session) -> None:
    """Report that the peer answered the first packet of the handshake (QB-190)."""
    for queue in sorted(session.queues):
        state.draft.signal(
            ConnectionChanged(
                queue,
                OutgoingEvent.CONNECT_BEGUN,
                ConnectionStatus.ESTABLISH_PACKET_RECEIVED,
                addresses=tuple(map(hop, session.hops)),
            )
        )


def lose(
    state: State,
    outgoing: SessionQueue,
    event: OutgoingEvent,
    status: ConnectionStatus,
    addresses: tuple[str, ...] = (),
    rest: Duration | None = None,
) -> None:
    """Report that a queue has no session any more; entries under way are handed out again later.

    After a failure messages that wait for an order acknowledgement are sent again too (QB-298, G-35).  After
    an idle session was closed, the Transactional Ack Wait Timer decides about them.
    """
    outgoing.session = 0
    forget(outgoing)
    state.draft.signal(
        ConnectionChanged(
            outgoing.queue,
            event,
            status,
            _error(event, status),
            addresses=tuple(map(hop, addresses)),
            rest=rest,
        )
    )
    if outgoing.taken and event is not OutgoingEvent.SESSION_CLEANED_UP:
        go_again(state, outgoing)


def _error(event: OutgoingEvent, status: ConnectionStatus) -> HResult:
    """Return the HRESULT of a failure in the history of connections (QB-169); OK for an orderly end."""
    is_failure = event in (OutgoingEvent.FAILED, OutgoingEvent.VALIDATION_NEEDED)
    return ERRORS.get(status, HResult.REMOTE_MACHINE_NOT_AVAILABLE) if is_failure else HResult.OK


def forget(outgoing: SessionQueue) -> None:
    """Forget the entries under way for a queue; a session acknowledgement for them has no effect any more."""
    for entry in outgoing.under_way.values():
        entry.live = False
    outgoing.under_way.clear()
    outgoing.parked.clear()
    outgoing.withheld.clear()


def forget_if_idle(state: State, outgoing: SessionQueue) -> bool:
    """Forget a queue without messages and without a stream; return whether it was forgotten.

    The manager asks for a connection if the queue is used again, and removes it if it is not.  Queues for
    acknowledgements stay, because there is one for each sender.
    """
    sender, queue = state.sender, outgoing.queue
    if not outgoing.host or outgoing.under_way or outgoing.parked or outgoing.taken or queue in state.sent:
        return False
    del sender.queues[queue]
    if sender.queue_to.get(outgoing.destination) == queue:
        del sender.queue_to[outgoing.destination]
    return True


def go_again(state: State, outgoing: SessionQueue) -> None:
    """Send all messages without an order acknowledgement again, in their order (QB-235)."""
    forget(outgoing)
    outgoing.has_unsent = False
    outgoing.taken.clear()
    state.draft.signal(ResendWanted(outgoing.queue))


def report_taken(state: State, outgoing: SessionQueue, count: int) -> None:
    """Report up to `count` messages that the peer has to the manager, which may hand out others instead."""
    taken = tuple(islice(outgoing.withheld, max(count, 0)))
    if taken:
        for lookup_id in taken:
            del outgoing.withheld[lookup_id]
        state.draft.signal(TransferAccepted(outgoing.queue, taken))


def put(session: Session, outgoing: SessionQueue, entry: Entry) -> None:
    """Add an entry of a queue to the outbox of its session (QB-273)."""
    put_all(session, outgoing, (entry,))


def put_all(session: Session, outgoing: SessionQueue, entries: Sequence[Entry]) -> None:
    """Add entries of a queue to the outbox of its session, in their order."""
    under_way, outgoing.used = outgoing.under_way, True
    for entry in entries:
        under_way[entry.lookup_id] = entry
    if outgoing.paused:
        outgoing.parked.extend(entries)
    else:
        session.outbox.extend(entries)

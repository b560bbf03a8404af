r"""Opens and accepts sessions, [MS-MQQB] 3.1.5.2 and 3.1.5.10, and finds the session for a queue.

    DIRECT=TCP:10.0.0.7\q, DIRECT=OS:host\q    the session that was dialled to this host, or to its address
    PRIVATE=guid\4                             an open session with it, or the address of its streams

All names of an address and port share one session: a host name is dialled, the resolver gives its
addresses, and if one of them has a session, the queues of that name use it. A session that a peer
opened serves for a host too, if this manager answered at that host before, and at the address that the
peer calls from.  The address alone does not identify the manager, because several may share one behind
a router; nor does the GUID, because any caller may claim it.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.mqqb.effects import Dial
from reliquary.protocols.mqqb.events import Accepted, AddressesFound, ConnectionLost, DialFailed, Dialled
from reliquary.protocols.mqqb.sessions import links
from reliquary.protocols.mqqb.sessions.closing import INITIALIZATION, close, reject
from reliquary.protocols.mqqb.sessions.phases import Phase
from reliquary.protocols.mqqb.state import Session, SessionQueue, State
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.travel.failures import FAILED_WITH
from reliquary.wire.packet.internal import NOT_PINGED, RELEASE, SERVER_CLASS, EstablishConnection
from reliquary.wire.packet.ping import Ping

MILLISECONDS: Final = 0xFFFFFFFF
"""The milliseconds in TimeStamp, modulo 2**32."""


def session_to(state: State, host: str) -> Session | None:
    """Return the session to a host, open or being opened; None if there is none."""
    number = state.by_host.get(host)
    if number is not None:
        return state.sessions[number]
    found = _session_at(state, (host, *state.hops.get(host, ())), state.settings.port_of(host))
    if found is not None:
        return found
    manager, address = state.known_at.get(host, (NO_GUID, ""))
    same = [each for each in state.by_peer.get(manager, ()) if state.sessions[each].address == address]
    return state.sessions[same[-1]] if same else None


def _session_at(
    state: State, addresses: tuple[str, ...], port: int, besides: Session | None = None
) -> Session | None:
    """Return the session that was dialled to one of these addresses, open or being opened.

    None without one.
    """
    for session in state.sessions.values():
        is_there = session.address in addresses or session.host in addresses
        if is_there and not session.accepted and session.port == port and session is not besides:
            return session
    return None


def _join(state: State, session: Session, addresses: tuple[str, ...]) -> bool:
    """Let the queues of a session that is dialled use another one to its address; return False without one.

    There is one session to each address of a peer, and every queue that leads there uses it.
    """
    other = _session_at(state, addresses, session.port, besides=session)
    if other is None:
        return False
    queues, session.queues = session.queues, set()
    close(state, session)
    state.hops.pop(session.host, None)
    state.by_host[session.host] = other.number
    for queue in sorted(queues):
        outgoing = state.sender.queues.get(queue)
        if outgoing is not None and outgoing.session == session.number:
            links.bind(other, outgoing)
            if other.is_open:
                links.connect(state, other, outgoing)
    return True


def session_of_sender(state: State, sender: UUID, address: str = "") -> Session | None:
    """Return an open session with the manager that sends a stream, or that brought its last message.

    Any caller may claim the GUID of a sender, so a session from `address` is preferred; without it, one from
    the address of its last message.
    """
    found = state.by_peer.get(sender) or state.by_peer.get(state.receiver.peers.get(sender, NO_GUID))
    if not found:
        return None
    if len(found) > 1:
        address = address or address_of_sender(state, sender)
        found = [each for each in found if state.sessions[each].address == address] or found
    return state.sessions[found[-1]]


def address_of_sender(state: State, sender: UUID) -> str:
    """Return the address from which messages of a sender came last; empty if it is unknown."""
    newest = max(
        (each.stream for each in state.by_sender.get(sender, ()) if each.stream.receipts_to),
        key=lambda stream: stream.accessed,
        default=None,
    )
    return "" if newest is None else newest.receipts_to


def connect_queue(state: State, outgoing: SessionQueue, now: Instant) -> None:
    """Find or open the session of an outgoing queue (QB-170 to QB-174); G-54: always if there is none."""
    # DEPARTS from 3.1.7.12 (QB-272): a session is opened whenever there is none, because the history of
    # connections is never empty again after the first one (G-54).
    session = (
        session_to(state, outgoing.host) if outgoing.host else session_of_sender(state, outgoing.manager)
    )
    if session is not None and session.is_open:
        links.connect(state, session, outgoing)
        return
    if session is None:
        host = outgoing.host or address_of_sender(state, outgoing.manager)
        if not host:
            # the directory would name the manager's address (QB-171, QB-175)
            links.lose(
                state, outgoing, OutgoingEvent.VALIDATION_NEEDED, ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE
            )
            return
        session = session_to(state, host) or dial(state, host, now)
        if session.is_open:
            links.connect(state, session, outgoing)
            return
    links.bind(session, outgoing)


def dial(state: State, host: str, now: Instant) -> Session:
    """Open a session to a host.

    A retry continues with the next address and sends no ping (QB-176, QB-297).
    """
    state.last_session += 1
    left = state.hops.pop(host, None)
    is_retry, addresses = left is not None, left or ()
    session = Session(
        state.last_session,
        Phase.DIALLING,
        now,
        host=host,
        port=state.settings.port_of(host),
        addresses=addresses,
        window=state.settings.window,
        ack_wait=state.settings.ack_wait,
    )
    state.sessions[session.number] = session
    state.by_host[host] = session.number
    ping = b""
    if state.settings.ping and not is_retry:
        # DEPARTS from 3.1.3.2 (QB-165): the cookie is one counter for all sessions and is never reset,
        # because two pings may wait at once (G-57).
        state.cookie += 1  # QB-100, QB-310
        session.pinged = True
        client = not state.settings.server_class
        ping = Ping(state.cookie, state.identity.lineage, is_client=client).encode()
    _limit_dialling(state, session)
    state.draft.ask(Dial(session.number, host, session.port, addresses, ping))
    return session


def _limit_dialling(state: State, session: Session) -> None:
    """Give up a session that is dialled, if the network does not report anything for very long."""
    # DEPARTS from 3.1.2.1 (QB-136): until a connection is made, the timer runs for each address of the host,
    # because several that do not answer take longer than the handshake may, and the last was never tried.
    span = max(len(session.addresses), 1) * state.settings.initialization
    state.draft.ask(SetTimer((INITIALIZATION, session.number), Duration(span)))


def on_addresses_found(state: State, event: AddressesFound, now: Instant) -> None:
    """Store all addresses of a host as hops (QB-173)."""
    del now
    session = state.sessions.get(event.session)
    if session is not None and not _join(state, session, event.addresses):
        session.addresses = event.addresses
        _limit_dialling(state, session)


def on_dialled(state: State, event: Dialled, now: Instant) -> None:
    """Send EstablishConnection on a new connection (QB-178 to QB-180)."""
    session = state.sessions.get(event.session)
    if session is None or session.phase is not Phase.DIALLING or _join(state, session, (event.address,)):
        return
    session.address = event.address
    session.phase = Phase.WAITING_ECR
    system = (
        RELEASE | (0 if session.pinged else NOT_PINGED) | _server_bit(state)
    )  # QB-048, QB-049, QB-053, QB-054
    request = EstablishConnection(
        client=state.identity.lineage,  # QB-044
        server=NO_GUID,  # QB-045: only direct names are dialled
        timestamp=timestamp(now),
        operating_system=system,
    )
    state.write(session, request.encode())
    state.draft.ask(SetTimer((INITIALIZATION, session.number), state.settings.initialization))


def _server_bit(state: State) -> int:
    """Return the bit that says whether this is a server (QB-051)."""
    return SERVER_CLASS if state.settings.server_class else 0


def timestamp(now: Instant) -> int:
    """Return the time as the milliseconds of a packet, modulo 2**32 (QB-047)."""
    return now // 1000 & MILLISECONDS


def on_dial_failed(state: State, event: DialFailed, now: Instant) -> None:
    """Close a session to which no address answered (QB-169, QB-177)."""
    del now
    session = state.sessions.get(event.session)
    if session is None:
        return
    status = ConnectionStatus.PING_FAILURE if event.ping else FAILED_WITH[event.failure]
    close(state, session, OutgoingEvent.FAILED, status, hang_up=False)


def on_accepted(state: State, event: Accepted, now: Instant) -> None:
    """Accept the connection of a peer (QB-166, QB-197), until its Session Initialization Timer fires."""
    session = Session(
        event.session,
        Phase.WAITING_EC,
        now,
        address=event.address,
        window=state.settings.window,
        ack_wait=state.settings.ack_wait,
    )
    state.sessions[session.number] = session
    state.draft.ask(SetTimer((INITIALIZATION, session.number), state.settings.initialization))


def on_lost(state: State, event: ConnectionLost, now: Instant) -> None:
    """Close a session whose connection ended (QB-309) or whose bytes are not packets (QB-029)."""
    del now
    session = state.sessions.get(event.session)
    if session is None:
        return
    if event.malformed:
        reject(state, session, event.why)
    else:
        status = (
            ConnectionStatus.SOCKET_SEND_FAILURE if session.is_open else ConnectionStatus.CONNECTION_REFUSED
        )
        close(state, session, OutgoingEvent.FAILED, status, hang_up=False)


def is_full(state: State) -> bool:
    """Return whether no more sessions of peers are accepted (QB-035)."""
    sessions = state.sessions.values()
    accepted = sum(1 for each in sessions if each.accepted and each.phase in (Phase.WAITING_CP, Phase.OPEN))
    return accepted >= state.settings.sessions

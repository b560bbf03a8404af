"""Performs the handshake, [MS-MQQB] 3.1.5.3 and 3.1.5.4: EstablishConnection, then ConnectionParameters.

initiator                                   acceptor
    | EC request: own GUID, asked GUID ------> |   asked for this manager, or for anyone?
    | <----- EC response: own GUID, refused?   |
    | CP request: times, window -------------> |
    | <------------------ CP response: window  |   OPEN
  OPEN
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import MILLISECOND, Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer, Warn
from reliquary.protocols.mqqb.sessions import links
from reliquary.protocols.mqqb.sessions.closing import CLEANUP, INITIALIZATION, close
from reliquary.protocols.mqqb.sessions.opening import MILLISECONDS, is_full, session_of_sender, timestamp
from reliquary.protocols.mqqb.sessions.phases import Phase
from reliquary.protocols.mqqb.state import Count, Session, SessionQueue, State
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.wire.packet.internal import (
    LEAST_RECOVERABLE_ACK,
    MOST_ACK,
    ConnectionParameters,
    EstablishConnection,
)

ROUND_TRIPS: Final = 8
"""RecoverableAckSendTimeout is this many round trips (QB-188)."""


def answer_establish(state: State, session: Session, packet: EstablishConnection, now: Instant) -> None:
    """Accept or refuse the session of a peer (QB-182 to QB-186)."""
    del now
    session.peer = packet.client
    identity = state.identity
    # DEPARTS from 2.2.1 (QB-034): a ServerGuid of zeros is accepted, because every initiator sends zeros
    # for a direct name (G-04).
    for_us = identity.covers(packet.server)  # G-04: zeros are right for a direct name
    is_ready = state.online and identity.lineage != NO_GUID
    is_self = packet.client in (identity.identifier, identity.lineage)
    refused = not for_us or not is_ready or is_self or is_full(state)
    response = EstablishConnection(
        client=packet.client,
        server=packet.server if for_us and packet.server != NO_GUID else identity.lineage,  # QB-046, G-05
        timestamp=packet.timestamp,
        operating_system=packet.operating_system,  # QB-050: the whole word, as the sample does
        refused=refused,
    )
    state.write(session, response.encode())
    if refused:
        # DEPARTS from 3.1.5.3.1 (QB-186): a refused session is closed after the response, because the
        # text leaves it waiting for a packet that must not come (G-07).
        state.counts[Count.REFUSED] += 1
        close(state, session, OutgoingEvent.FAILED, ConnectionStatus.CONNECTION_LIMIT_REACHED)
        return
    session.phase = Phase.WAITING_CP


def established(state: State, session: Session, packet: EstablishConnection, now: Instant) -> None:
    """Check the identity of the peer that answered, and send ConnectionParameters (QB-187 to QB-190)."""
    why = ""
    if packet.refused:
        why = "it refuses the session"
    elif packet.client != state.identity.lineage:
        why = f"its response is for {packet.client}"
    elif packet.server == NO_GUID:
        why = "its response does not name a manager"
    elif state.identity.covers(packet.server):
        why = "it is this manager itself: the setting for addresses or names of this manager lacks this host"
    if why:
        refused(state, session, why)
        return
    # DEPARTS from 3.1.5.3.2 (QB-187): any manager is right for a direct name, because its GUID is not
    # known before; it is remembered (G-06).
    session.peer = packet.server
    state.known_at[session.host] = (packet.server, session.address)
    trip = (timestamp(now) - packet.timestamp) & MILLISECONDS  # a clock that jumped gives the longest time
    span = min(max(ROUND_TRIPS * trip, LEAST_RECOVERABLE_ACK), MOST_ACK)
    session.recoverable_ack = Duration(span * MILLISECOND)
    request = ConnectionParameters(
        recoverable_ack_timeout=span,
        ack_timeout=session.ack_wait // MILLISECOND,
        window=session.window,
    )
    session.phase = Phase.WAITING_CPR
    links.begun(state, session)
    state.write(session, request.encode())


def refused(state: State, session: Session, why: str) -> None:
    """Close a session that the peer does not open."""
    state.draft.ask(Warn(session.host, "a peer does not open a session", why))
    close(state, session, OutgoingEvent.FAILED, ConnectionStatus.CONNECTION_REFUSED)


def answer_parameters(state: State, session: Session, packet: ConnectionParameters, now: Instant) -> None:
    """Take the times and the window of the initiator, and answer with our window (QB-192 to QB-194)."""
    session.recoverable_ack = Duration(packet.recoverable_ack_timeout * MILLISECOND)
    session.ack_wait = Duration(packet.ack_timeout * MILLISECOND)
    response = ConnectionParameters(
        recoverable_ack_timeout=packet.recoverable_ack_timeout,
        ack_timeout=packet.ack_timeout,
        window=session.window,
    )
    state.write(session, response.encode())
    open_session(state, session, packet.window, now)


def open_session(state: State, session: Session, window: int, now: Instant) -> None:
    """Open the session, and connect the queues that wait for it (QB-195, QB-196)."""
    del now
    session.phase = Phase.OPEN
    session.peer_window = max(window, 1)  # G-09
    state.draft.ask(CancelTimer((INITIALIZATION, session.number)))
    state.draft.ask(SetTimer((CLEANUP, session.number), state.settings.cleanup))  # QB-153
    state.by_peer.setdefault(session.peer, []).append(session.number)
    state.hops.pop(session.host, None)
    for queue, outgoing in sorted(state.sender.queues.items()):
        # the peer may be a manager that cannot be dialled
        is_its_own = outgoing.manager == session.peer != NO_GUID and not outgoing.paused
        if queue in session.queues and outgoing.session == session.number:
            links.connect(state, session, outgoing)
        elif is_its_own and session_of_sender(state, outgoing.manager) is session:
            _connect_acknowledgements(state, session, outgoing)


def _connect_acknowledgements(state: State, session: Session, outgoing: SessionQueue) -> None:
    """Let the acknowledgements for a manager use this session, unless they use one from its address."""
    bound = state.sessions.get(outgoing.session)
    if bound is not None and bound.is_open:
        if bound.address == session.address:
            return
        bound.queues.discard(outgoing.queue)  # it is another caller that claims the GUID, or an older address
        links.lose(state, outgoing, OutgoingEvent.SESSION_CLEANED_UP, ConnectionStatus.CONNECTION_NOT_READY)
    links.connect(state, session, outgoing)

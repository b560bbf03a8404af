"""Closes idle, silent, lost and malformed sessions, [MS-MQQB] 3.1.5.9, 3.1.6.2, 3.1.6.3 and 3.1.6.6.

No packet closes a session: the TCP connection just ends.  Messages without an acknowledgement are sent
again on the next session.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer, Warn
from reliquary.protocols.mqqb.effects import HangUp, SendPackets, SendStored
from reliquary.protocols.mqqb.sessions import links
from reliquary.protocols.mqqb.sessions.acknowledging import ACK_SEND, acknowledge
from reliquary.protocols.mqqb.sessions.phases import Phase
from reliquary.protocols.mqqb.state import Count, Session, State
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent

# DEPARTS from 3.1.2.1 (QB-198): each session has a timer of its own, because one timer for all would close
# the session of a peer that did nothing wrong (G-56).
INITIALIZATION: Final = "mqqb-initialization"
"""Session Initialization Timer, one for each session (G-56)."""
CLEANUP: Final = "mqqb-cleanup"
"""Session Cleanup Timer, one for each session."""
ACK_WAIT: Final = "mqqb-ack-wait"
"""Session Ack Wait Timer, one for each session."""
RENEW: Final = 0xC000
"""A drained session is renewed after this many packets, before its 16-bit counters wrap (G-17)."""
BROKEN: Final = "a peer broke the protocol"


def flush(state: State) -> None:
    """Ask the network to send the packets of this turn, in the order of their numbers (G-59)."""
    unsent, state.unsent = state.unsent, {}
    for session in unsent.values():
        _flush(state, session)


def _flush(state: State, session: Session) -> None:
    out, at_once = session.out, session.at_once
    if not out:
        return
    session.out, session.at_once = [], 0
    if at_once:
        session.serial += 1
        state.draft.ask(SendStored(session.number, session.serial, tuple(out[:at_once])))
    if at_once < len(out):
        session.serial += 1
        state.draft.ask(SendPackets(session.number, session.serial, tuple(out[at_once:])))


def close(
    state: State,
    session: Session,
    event: OutgoingEvent = OutgoingEvent.FAILED,
    status: ConnectionStatus = ConnectionStatus.SOCKET_SEND_FAILURE,
    *,
    hang_up: bool = True,
) -> None:
    """Close a session (QB-295); its queues pause and connect again if messages wait (QB-296)."""
    state.unsent.pop(session.number, None)
    if hang_up:
        if session.phase is Phase.DIALLING:
            state.draft.ask(HangUp(session.number))
        else:
            _flush(state, session)
            session.serial += 1
            state.draft.ask(HangUp(session.number, session.serial))
    for timer in (INITIALIZATION, CLEANUP, ACK_WAIT, ACK_SEND):
        state.draft.ask(CancelTimer((timer, session.number)))
    _remove(state, session)
    if session.host and event is OutgoingEvent.FAILED and not (session.is_open and _is_done(state, session)):
        state.hops.setdefault(session.host, ())
    rest = state.settings.retry if event is OutgoingEvent.FAILED else None
    for queue in sorted(session.queues):
        outgoing = state.sender.queues.get(queue)
        if outgoing is not None and outgoing.session == session.number:
            links.lose(state, outgoing, event, status, session.hops, rest)
            links.forget_if_idle(state, outgoing)
    for place in session.order_acks:
        state.receiver.owed.setdefault(place, 0)


def _is_done(state: State, session: Session) -> bool:
    """Return whether no message of a session that ends has to be sent on the next one."""
    queues = state.sender.queues
    taken = any(queues[queue].taken for queue in session.queues if queue in queues)
    return not (session.outbox or session.outstanding or session.unstored or taken)


def _remove(state: State, session: Session) -> None:
    """Remove a session from all indexes."""
    del state.sessions[session.number]
    for host in [host for host, number in state.by_host.items() if number == session.number]:
        del state.by_host[host]
    same_peer = state.by_peer.get(session.peer, [])
    if session.number in same_peer:
        same_peer.remove(session.number)
        if not same_peer:
            del state.by_peer[session.peer]
    if session.host and not session.is_open and session.address in session.addresses:
        # the next attempt begins with the address after the one that failed (QB-297)
        rest = session.addresses[session.addresses.index(session.address) + 1 :]
        state.hops[session.host] = rest


def reject(state: State, session: Session, why: str) -> None:
    """Close a session whose peer violated the protocol (QB-029, QB-030); the packet has no effect."""
    state.counts[Count.MALFORMED] += 1
    state.draft.ask(Warn(session.address or session.host, BROKEN, why))
    status = ConnectionStatus.UNKNOWN_FAILURE
    close(state, session, OutgoingEvent.FAILED, status)


# -- timers


def on_initialization(state: State, number: int, now: Instant) -> None:
    """Close a session whose handshake took too long, when Session Initialization Timer fires (QB-300)."""
    del now
    session = state.sessions.get(number)
    if session is not None and not session.is_open:
        state.counts[Count.TIMED_OUT] += 1
        close(state, session, OutgoingEvent.FAILED, ConnectionStatus.CONNECTION_NOT_READY)


def on_cleanup(state: State, number: int, now: Instant) -> None:
    """Close an idle session when Session Cleanup Timer fires (QB-299)."""
    del now
    session = state.sessions.get(number)
    if session is None or not session.is_open:
        return
    waits = session.outbox or session.outstanding or session.unstored
    if session.active or waits:
        session.active = False
        _release_idle_queues(state, session)
        state.draft.ask(SetTimer((CLEANUP, number), state.settings.cleanup))
        return
    end_quietly(state, session)


def _release_idle_queues(state: State, session: Session) -> None:
    """Disconnect the queues of a session that sent nothing since the last Session Cleanup Timer.

    Otherwise a session that others keep busy would hold each queue that used it once.
    """
    for queue in sorted(session.queues):
        outgoing = state.sender.queues.get(queue)
        if outgoing is None or outgoing.session != session.number:
            continue
        if not outgoing.used and links.forget_if_idle(state, outgoing):
            session.queues.discard(queue)
            event, status = OutgoingEvent.SESSION_CLEANED_UP, ConnectionStatus.CONNECTION_NOT_READY
            links.lose(state, outgoing, event, status, session.hops)
        outgoing.used = False


def end_quietly(
    state: State, session: Session, event: OutgoingEvent = OutgoingEvent.SESSION_CLEANED_UP
) -> None:
    """Close a session without a failure of its peer; an acknowledgement that is due is sent first."""
    if session.is_open and session.unacked and not session.judging:
        acknowledge(state, session)
    close(state, session, event, ConnectionStatus.CONNECTION_NOT_READY)


def renew_if_drained(state: State, session: Session) -> None:
    """Close a drained session before its counters wrap; the next message opens another (G-17)."""
    used = max(session.sent, session.received)
    if used >= RENEW and not session.accepted and session.is_drained and not session.inbox:
        end_quietly(state, session)


def wait_for_ack(state: State, session: Session) -> None:
    """Start the Session Ack Wait Timer, if it does not run (QB-139, QB-210, QB-285)."""
    if not session.waits_for_ack:
        session.waits_for_ack, session.heard = True, False
        span = Duration(session.ack_wait * state.settings.ack_wait_factor)
        state.draft.ask(SetTimer((ACK_WAIT, session.number), span))


def on_ack_wait(state: State, number: int, now: Instant) -> None:
    """Close a session whose peer is silent, when Session Ack Wait Timer fires (QB-219 to QB-222)."""
    del now
    session = state.sessions.get(number)
    if session is None:
        return
    session.waits_for_ack = False
    if not (session.outstanding or session.unstored):
        return
    if session.heard:
        wait_for_ack(state, session)
        return
    state.counts[Count.TIMED_OUT] += 1
    close(state, session, OutgoingEvent.FAILED, ConnectionStatus.CONNECTION_NOT_READY)

"""Makes SessionHeaders from the counters of a session, [MS-MQQB] 3.1.5.8.7, 3.1.6.4 and 3.1.7.11.

    a packet came --> counted --> processed --> its bit is set --> SessionAck, now or when the timer fires

A header that reports stored messages leaves after the sync of every turn that stored them (QB-214).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.mqqb.state import Count, Session, State
from reliquary.wire.packet.internal import SessionAck
from reliquary.wire.packet.session import SessionHeader

ACK_SEND: Final = "mqqb-ack-send"
"""Session Ack Send Timer, one for each session."""
MOST_BITS: Final = 32
"""How many recoverable packets one header can report (QB-213)."""
MASK: Final = 0xFFFF
"""Numbers of packets have 16 bits on the wire (G-17)."""


def count_packets(
    state: State, session: Session, now: Instant, size: int, *, recoverable: bool, packets: int = 1
) -> None:
    """Count packets that came, also those that are dropped (QB-017, QB-240; G-19, G-20).

    `size` is the bytes of their bodies.  The first packet starts the Session Ack Send Timer, and a
    recoverable one may shorten it (QB-140).
    """
    state.counts[Count.RECEIVED] += packets
    session.received += packets
    session.unacked += packets
    session.unacked_bytes += size
    session.active = True
    span = session.ack_wait // 2  # QB-243
    if recoverable:
        session.recoverable_received += packets
        span = min(span, session.recoverable_ack)  # QB-215
    if not session.ack_due or now + span < session.ack_due:
        session.ack_due, session.ack_span = now + span, span
        state.draft.ask(SetTimer((ACK_SEND, session.number), Duration(span)))


def note_stored(session: Session, packets: int = 1) -> None:
    """Set the bits of the recoverable packets that were just counted; this turn stores them (QB-214)."""
    session.bits |= ((1 << packets) - 1) << (session.recoverable_received - session.last_acked - packets)


def acknowledge_if_due(state: State, session: Session) -> None:
    """Send a SessionAck at once when enough packets are not acknowledged."""
    # DEPARTS from 3.1.1.6.1 (QB-213): half of the smaller window is enough, because a sender whose
    # window is full would wait for the timer (G-11).  A sender with large messages stops for their bytes
    # before its window is full.
    half, quarter = max(session.room // 2, 1), state.settings.most_bytes // 4
    new = session.recoverable_received - session.last_acked
    if session.unacked >= half or new >= MOST_BITS or session.unacked_bytes >= quarter:
        acknowledge(state, session)


def acknowledge(state: State, session: Session) -> None:
    """Send a SessionAck (QB-213, QB-216); one that reports no stored message does not wait for the disk."""
    reports = bool(session.bits)
    session.has_reported = session.has_reported or reports
    state.write(session, SessionAck(header(state, session)).encode(), stored=not reports)
    state.counts[Count.SESSION_ACKS] += 1


def header(state: State, session: Session) -> SessionHeader:
    """Return the SessionHeader for all packets so far; reset the counters (QB-018, QB-151, G-13, G-14)."""
    if session.bits:
        # DEPARTS from 3.1.1.6.1 (QB-128): the recoverable fields are 0 only if nothing is reported,
        # because the sender would not get to know that its messages are stored (G-13).
        state.draft.wait()  # what it reports may be stored by an earlier turn
    made = SessionHeader(
        ack=session.received & MASK,
        recoverable_ack=(session.last_acked + 1) & MASK if session.bits else 0,
        recoverable_set=session.bits,
        sent=session.sent & MASK,  # QB-019
        recoverable_sent=session.recoverable_sent & MASK,
        window=session.window,
    )
    session.bits = session.unacked = session.unacked_bytes = 0
    session.last_acked = session.recoverable_received
    if session.ack_due:
        state.draft.ask(CancelTimer((ACK_SEND, session.number)))
    session.ack_due = 0
    return made


def rides(session: Session, now: Instant) -> bool:
    """Return whether a user packet carries a SessionHeader, as after 75 % of the timer (QB-218, G-58)."""
    # DEPARTS from 3.1.7.11 (QB-218): this is decided when the packet is sent and not when it is made,
    # because it may wait for hours in between (G-58).
    return session.unacked > 0 and not session.judging and now >= session.ack_due - session.ack_span // 4


def on_ack_send(state: State, number: int, now: Instant) -> None:
    """Send an acknowledgement when the Session Ack Send Timer fires, 3.1.6.4."""
    del now
    session = state.sessions.get(number)
    if session is None:
        return
    session.ack_due = 0
    # DEPARTS from 3.1.6.4 (QB-217): the timer is not restarted, because the next packet starts it and
    # an empty acknowledgement has no use (G-12).
    if session.unacked:
        acknowledge(state, session)

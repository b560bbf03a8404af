"""Opens and closes sessions of outgoing queues, [MC-MQSRM] 3.1.7.4, .5, .9 and 3.1.6.4, by `phases`.

ConnectionWanted          open
a POST failed             close; the queue pauses, then requests a connection again
Session Cleanup Timer     close, if nothing was posted for a while
QueuePaused               close
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.srmp.effects import EndSession
from reliquary.protocols.srmp.sender.addresses import post_address
from reliquary.protocols.srmp.sender.phases import NEXT, Move, Phase
from reliquary.protocols.srmp.sender.resending import go_again, report_taken, start_wait, stop_wait
from reliquary.protocols.srmp.state import Session, State
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    ConnectionChanged,
    ConnectionWanted,
    ManagerOnline,
    QueuePaused,
    QueueResumed,
)
from reliquary.streams.ladder import ReceiptWait

SESSION_CLEANUP: Final = "srmp-session-cleanup"
"""Session Cleanup Timer, one for each outgoing queue."""
AHEAD: Final = 2
"""The multiple of the POSTs in flight that the manager hands out, so that the next messages are on disk."""


# -- open and closed


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Open a session, once receipts have an address (Establish Transport Connection, SR-310)."""
    state.sender.wanted[signal.queue] = signal.destination
    state.sender.manager = signal.manager
    if state.address.receipts_host:
        open_wanted(state, now)


def open_wanted(state: State, now: Instant) -> None:
    """Open the sessions that queues request, once the address for receipts is known."""
    wanted, state.sender.wanted = state.sender.wanted, {}
    for queue, destination in wanted.items():
        session = state.sender.sessions.get(queue)
        if session is None:
            address = post_address(destination, state.settings)
            wait = ReceiptWait(state.settings.resend_ladder)
            session = state.sender.sessions[queue] = Session(queue, destination, address, wait)
        _open(state, session, now)


def _open(state: State, session: Session, now: Instant) -> None:
    state.sender.last_epoch += 1
    session.phase = NEXT[session.phase, Move.CONNECT]
    session.epoch, session.used = state.sender.last_epoch, now
    state.draft.ask(SetTimer((SESSION_CLEANUP, session.queue), state.settings.session_cleanup))
    state.draft.signal(
        ConnectionChanged(
            session.queue,
            OutgoingEvent.CONNECTED,
            ConnectionStatus.ESTABLISHED,
            addresses=(session.address.next_hop,),
            at_once=AHEAD * state.settings.in_flight,
        )
    )
    if session.taken:
        start_wait(state, session, now)


def _close(state: State, session: Session, move: Move) -> None:
    """Close the session.

    POSTs without an answer count as not sent, accepted messages wait for their receipt.
    """
    before, session.phase = session.phase, NEXT[session.phase, move]
    if before is not Phase.CLOSED:
        state.draft.ask(EndSession(session.queue, session.epoch))
    session.has_unposted = False
    sent = state.sent.get(session.queue)
    starts = [lookup_id for lookup_id, number in session.posted.items() if number == 1]
    session.unheard_start = (session.epoch, starts[0], sent.stream.number) if starts and sent else None
    session.posted.clear()
    report_taken(state, session, len(session.withheld))
    if before is Phase.DRAINING:
        go_again(state, session)


def fail(state: State, session: Session, status: ConnectionStatus) -> None:
    """Close the session after a failure (SR-293); the queue pauses for RetransmissionTimeout (SR-149)."""
    session.failing = True
    _close(state, session, Move.FAIL)
    # DEPARTS from 3.1.7.2.5 (SR-293): the Stream Receipt Wait Timer continues for messages that were answered
    # with 200, because their receipts would never be requested if no other message waits to be sent.
    if not session.taken:
        stop_wait(state, session)
    state.draft.signal(
        ConnectionChanged(
            session.queue,
            OutgoingEvent.FAILED,
            status,
            addresses=(session.address.next_hop,),
            rest=state.settings.retransmission,
        )
    )


def on_session_cleanup(state: State, queue: int, now: Instant) -> None:
    """Close a session that is idle (SR-254); an answer since the timer was set delays that."""
    session = state.sender.sessions.get(queue)
    if session is None or session.phase is Phase.CLOSED:
        return
    span = state.settings.session_cleanup
    idle = max(now - session.used, 0)
    if session.posted or idle < span:
        left = span if session.posted else Duration(span - idle)
        state.draft.ask(SetTimer((SESSION_CLEANUP, queue), left))
        return
    _close(state, session, Move.IDLE)
    state.draft.signal(
        ConnectionChanged(queue, OutgoingEvent.SESSION_CLEANED_UP, ConnectionStatus.CONNECTION_NOT_READY)
    )
    if queue not in state.sent:
        del state.sender.sessions[queue]


# -- on hold and offline


def on_paused(state: State, signal: QueuePaused, now: Instant) -> None:
    """Close the session of a paused queue, and stop waiting for receipts (SR-304)."""
    del now
    session = state.sender.sessions.get(signal.queue)
    if session is not None:
        stop_wait(state, session)
        _close(state, session, Move.PAUSE)
        state.draft.signal(
            ConnectionChanged(signal.queue, OutgoingEvent.DISCONNECTED, ConnectionStatus.CONNECTION_NOT_READY)
        )


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """Wait for receipts of a resumed queue again (SR-305); the manager requests a connection if needed."""
    # DEPARTS from 3.1.7.5 (SR-305): the wait timer that Pause Queue stopped runs again, because nothing
    # else would resend accepted messages without a receipt.
    session = state.sender.sessions.get(signal.queue)
    if session is not None and session.taken:
        start_wait(state, session, now)


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """Go online or offline; offline no receipt can come, so the wait stops."""
    for session in state.sender.sessions.values():
        if not signal.online:
            stop_wait(state, session)
        elif session.taken:
            start_wait(state, session, now)

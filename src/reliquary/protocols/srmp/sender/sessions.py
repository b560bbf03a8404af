"""The connection of an outgoing queue, [MC-MQSRM] 3.1.7.4, .5, .9 and its timers, 3.1.6.2 and 3.1.6.4.

        ConnectionWanted                      a POST failed: the queue rests, then wants a connection
    closed ------------> open --------------> closed
                          |  '--------------> closed    nothing was posted for a while
                          '-----------------> closed    the queue is on hold

    posting --- time-out, or a gap in the stream ---> draining --- all answered ---> all goes again

The network connects when there is something to post, so an open session is ours alone.  Every opening
has an epoch of its own; what is said about another one comes too late and changes nothing.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.srmp.effects import EndSession
from reliquary.protocols.srmp.sender.addresses import route_to
from reliquary.protocols.srmp.state import Session, State
from reliquary.queueing.travel.link import ConnectionStatus, Happening
from reliquary.queueing.travel.transfer import (
    ConnectionChanged,
    ConnectionWanted,
    ManagerOnline,
    QueuePaused,
    QueueResumed,
    ResendWanted,
    TransferAccepted,
)
from reliquary.streams.ladder import ReceiptWait

RECEIPT_WAIT: Final = "srmp-receipt-wait"
"""Stream Receipt Wait Timer, one for each outgoing queue."""
SESSION_CLEANUP: Final = "srmp-session-cleanup"
"""Session Cleanup Timer, one for each outgoing queue."""
AHEAD: Final = 2
"""So many times what may be in flight is handed out: what goes next is numbered and on disk, and leaves with
the first answer, while the receiver and its disk are at work."""


# -- open and closed


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Establish Transport Connection (SR-310)."""
    state.wanted[signal.queue] = signal.destination
    if state.receipts_host:
        open_wanted(state, now)


def open_wanted(state: State, now: Instant) -> None:
    """Open the sessions that were asked for; not before we know where receipts are to come."""
    wanted, state.wanted = state.wanted, {}
    for queue, destination in wanted.items():
        session = state.sessions.get(queue)
        if session is None:
            route = route_to(destination, state.settings)
            wait = ReceiptWait(state.settings.resend_ladder)
            session = state.sessions[queue] = Session(queue, destination, route, wait)
        _open(state, session, now)


def _open(state: State, session: Session, now: Instant) -> None:
    state.last_epoch += 1
    session.epoch, session.is_open, session.used = state.last_epoch, True, now
    state.draft.ask(SetTimer((SESSION_CLEANUP, session.queue), state.settings.session_cleanup))
    state.draft.tell(
        ConnectionChanged(
            session.queue,
            Happening.CONNECTED,
            ConnectionStatus.ESTABLISHED,
            addresses=(session.route.next_hop,),
            at_once=AHEAD * state.settings.in_flight,
        )
    )
    if session.taken:
        start_wait(state, session, now)


def _close(state: State, session: Session) -> None:
    """What was posted and has no answer goes again; what was taken does so only when it is due."""
    if session.is_open:
        state.draft.ask(EndSession(session.queue, session.epoch))
    session.is_open = session.held = False
    session.posted.clear()
    tell_accepted(state, session, len(session.withheld))
    if session.draining:
        go_again(state, session)


def fail(state: State, session: Session, status: ConnectionStatus) -> None:
    """No answer, or one that says "later" (SR-293): the queue rests for RetransmissionTimeout (SR-149)."""
    session.failing = True
    _close(state, session)
    # DEPARTS from 3.1.7.2.5 (SR-293): the Stream Receipt Wait Timer runs on for what was answered with 200,
    # because nobody would ask for those receipts where nothing else waits to be sent.
    if not session.taken:
        stop_wait(state, session)
    state.draft.tell(
        ConnectionChanged(
            session.queue,
            Happening.FAILED,
            status,
            addresses=(session.route.next_hop,),
            rest=state.settings.retransmission,
        )
    )


def on_session_cleanup(state: State, queue: int, now: Instant) -> None:
    """Nothing was posted for a while: close (SR-254).  An answer since then puts it off."""
    session = state.sessions.get(queue)
    if session is None or not session.is_open:
        return
    span = state.settings.session_cleanup
    idle = max(now - session.used, 0)
    if session.posted or idle < span:
        left = span if session.posted else Duration(span - idle)
        state.draft.ask(SetTimer((SESSION_CLEANUP, queue), left))
        return
    _close(state, session)
    state.draft.tell(
        ConnectionChanged(queue, Happening.SESSION_CLEANED_UP, ConnectionStatus.CONNECTION_NOT_READY)
    )
    if queue not in state.sent:
        del state.sessions[queue]


# -- on hold and offline


def on_paused(state: State, signal: QueuePaused, now: Instant) -> None:
    """Pause Queue (SR-304)."""
    del now
    session = state.sessions.get(signal.queue)
    if session is not None:
        stop_wait(state, session)
        _close(state, session)
        state.draft.tell(
            ConnectionChanged(signal.queue, Happening.DISCONNECTED, ConnectionStatus.CONNECTION_NOT_READY)
        )


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """Resume Queue (SR-305); what waits wants a connection by itself, receipts are waited for again."""
    # DEPARTS from 3.1.7.5 (SR-305): the wait timer that Pause Queue stopped runs again, because nothing
    # else would send what was taken and never acknowledged.
    session = state.sessions.get(signal.queue)
    if session is not None and session.taken:
        start_wait(state, session, now)


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """Offline no receipt can come, so none is waited for; answers to what was posted do."""
    for session in state.sessions.values():
        if not signal.online:
            stop_wait(state, session)
        elif session.taken:
            start_wait(state, session, now)


# -- waiting for stream receipts


def start_wait(state: State, session: Session, now: Instant, *, again: bool = False) -> None:
    """Wait for a stream receipt (SR-271), from now on where it is `again`; else as long as it was."""
    # DEPARTS from 3.1.7.2.3 (SR-271): a timer that runs is left alone, because steady traffic would put it
    # off for ever.
    if again or not session.wait.running:
        span = session.wait.start(now)
        state.draft.ask(SetTimer((RECEIPT_WAIT, session.queue), span))


def stop_wait(state: State, session: Session) -> None:
    """Nothing is outstanding, or nothing can come."""
    if session.wait.running:
        session.wait.stop()
        state.draft.ask(CancelTimer((RECEIPT_WAIT, session.queue)))


def on_receipt_wait(state: State, queue: int, now: Instant) -> None:
    """No receipt came in time: all goes again (SR-247), and the next wait is longer."""
    del now
    session = state.sessions.get(queue)
    if session is None or not session.wait.running:
        return
    session.wait.running = False
    # DEPARTS from 3.1.5.1.8.2 (SR-224): a time-out makes the wait longer and a receipt makes it short again,
    # because a receiver that answers well would be waited for longer and longer.  Nor does it count while
    # the receiver cannot be reached at all.
    if not session.failing:
        session.wait.time_out()
    go_again(state, session)


def go_again(state: State, session: Session) -> None:
    """Let all that has no receipt go again in its order, once what was posted is answered."""
    session.draining = bool(session.posted)
    if not session.draining:
        session.held = False
        session.taken.clear()
        session.withheld.clear()
        state.draft.tell(ResendWanted(session.queue))


def tell_accepted(state: State, session: Session, count: int) -> None:
    """The manager learns of so many messages that were taken, and may hand out others for them."""
    for lookup_id in list(session.withheld)[: max(count, 0)]:
        del session.withheld[lookup_id]
        state.draft.tell(TransferAccepted(session.queue, lookup_id))

"""Waits for stream receipts, [MC-MQSRM] 3.1.6.2, and sends messages without one again.

message posted --> wait --- receipt: wait anew, or stop if nothing is outstanding
                     |----- time-out, and the first message has no answer: wait anew
                     '----- time-out: all is sent again, and the next wait is longer
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.srmp.sender.phases import NEXT, Move, Phase
from reliquary.protocols.srmp.state import Session, State
from reliquary.queueing.model.travel.transfer import ResendWanted, TransferAccepted

RECEIPT_WAIT: Final = "srmp-receipt-wait"
"""Stream Receipt Wait Timer, one for each outgoing queue."""


def start_wait(state: State, session: Session, now: Instant, *, again: bool = False) -> None:
    """Wait for a stream receipt (SR-271); a wait that has begun continues, unless it is to begin `again`."""
    # DEPARTS from 3.1.7.2.3 (SR-271): a timer that runs is left alone, because steady traffic would
    # delay it without end.
    if again or not session.wait.running:
        span = session.wait.start(now)
        state.draft.ask(SetTimer((RECEIPT_WAIT, session.queue), span))


def stop_wait(state: State, session: Session) -> None:
    """Stop the wait, because nothing is outstanding, or no receipt can come."""
    if session.wait.running:
        session.wait.stop()
        state.draft.ask(CancelTimer((RECEIPT_WAIT, session.queue)))


def on_receipt_wait(state: State, queue: int, now: Instant) -> None:
    """Send all messages again if no receipt came in time (SR-247); the next wait is longer."""
    session, sent = state.sender.sessions.get(queue), state.sent.get(queue)
    if session is None or not session.wait.running:
        return
    session.wait.running = False
    if sent is not None and sent.awaiting and sent.at(sent.first_awaiting()) in session.posted:
        # DEPARTS from 3.1.6.2 (SR-247): nothing goes again while the first message without a receipt has no
        # answer, because a large one may take long over a slow line, and would be sent many times.
        start_wait(state, session, now)
        return
    # DEPARTS from 3.1.5.1.8.2 (SR-224): a time-out makes the wait longer and a receipt makes it short again,
    # because otherwise the wait for a good receiver would become longer and longer.  Nor does it count while
    # the receiver cannot be reached at all.
    if not session.failing:
        session.wait.time_out()
    go_again(state, session)


def go_again(state: State, session: Session) -> None:
    """Send all messages without a receipt again in order, once every POST has its answer."""
    session.phase = NEXT[session.phase, Move.RESEND if session.posted else Move.ANSWERED]
    if session.phase is not Phase.DRAINING:
        session.has_unposted = False
        session.taken.clear()
        session.withheld.clear()
        state.draft.signal(ResendWanted(session.queue))


def report_taken(state: State, session: Session, count: int) -> None:
    """Report up to `count` accepted messages to the manager, which may hand out others instead."""
    taken = tuple(islice(session.withheld, max(count, 0)))
    if taken:
        for lookup_id in taken:
            del session.withheld[lookup_id]
        state.draft.signal(TransferAccepted(session.queue, taken))

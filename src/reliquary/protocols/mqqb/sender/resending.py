"""Waits for order acknowledgements, [MS-MQQB] 3.1.6.5, and sends messages without one again.

The wait belongs to the stream and not to the session, because sessions end (G-35).  A time-out makes the next
wait longer, and progress makes it short again (G-36).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.mqqb.sessions.links import go_again
from reliquary.protocols.mqqb.state import SessionQueue, State

ORDER_WAIT: Final = "mqqb-order-wait"
"""Transactional Ack Wait Timer, one for each outgoing queue."""


def start_wait(state: State, outgoing: SessionQueue, now: Instant, *, again: bool = False) -> None:
    """Wait for an order acknowledgement (QB-141).

    A wait that runs continues, unless it is to begin `again`.
    """
    if again or not outgoing.wait.running:
        state.draft.ask(SetTimer((ORDER_WAIT, outgoing.queue), outgoing.wait.start(now)))


def stop_wait(state: State, outgoing: SessionQueue) -> None:
    """Stop the wait, because nothing is outstanding, or no acknowledgement can come."""
    if outgoing.wait.running:
        outgoing.wait.stop()
        state.draft.ask(CancelTimer((ORDER_WAIT, outgoing.queue)))


def on_order_wait(state: State, outgoing: SessionQueue, now: Instant) -> None:
    """Send all messages of the stream again, because no order acknowledgement came in time (QB-235)."""
    sent = state.sent.get(outgoing.queue)
    outgoing.wait.running = False
    if sent is None or not sent.awaiting or outgoing.paused:
        return
    if outgoing.session and sent.at(sent.first_awaiting()) in outgoing.under_way:
        # DEPARTS from 3.1.6.5 (QB-235): nothing is sent again while the first message has no session
        # acknowledgement, because a slow connection would carry it many times.
        start_wait(state, outgoing, now)
        return
    # DEPARTS from 3.1.5.6 (QB-152, QB-225): a time-out makes the next wait longer and progress makes it
    # short, and the timer belongs to the stream, because success would slow the sender down, and a session
    # that ends would forget the wait (G-35, G-36).
    session = state.sessions.get(outgoing.session)
    if outgoing.taken or (session is not None and session.is_open):
        outgoing.wait.time_out()  # not for a peer that cannot be reached
    go_again(state, outgoing)
    start_wait(state, outgoing, now)

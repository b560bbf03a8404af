"""Ends streams of an older era (`reliquary.streams.closing` has the rules).

A receiver that has seen a later stream of the old manager silently ignores the closed one.  So a
message that was answered several times and never confirmed becomes a dead letter too.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.srmp.sender.resending import go_again, on_receipt_wait, stop_wait
from reliquary.protocols.srmp.sender.streams import forget, free
from reliquary.protocols.srmp.state import Session, State
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.closing import PATIENCE, make_dead_letters

OLD_NUMBER: Final = -1
"""The number of a message that was posted in a stream that has ended.

Its answer does not concern the new stream.
"""


def is_free(state: State, session: Session) -> bool:
    """Return whether new messages may be numbered; if not, they are handed out again after the stream.

    Messages that have arrived and wait only for their final receipt delay nothing, because that receipt
    may have come after the backup.
    """
    sent = state.sent.get(session.queue)
    if sent is None or not sent.stream.closed:
        return True
    if sent.awaiting:
        session.has_unposted = True
        return False
    give_up(state, session, "whether they were received is not known")
    return True


def on_wait_over(state: State, queue: int, now: Instant) -> None:
    """Send all messages again if no receipt came in time, or give up a stream that was closed long ago."""
    session, sent = state.sender.sessions.get(queue), state.sent.get(queue)
    if session is not None and sent is not None and sent.stream.closed and _is_hopeless(session):
        give_up(state, session, "they were answered and never confirmed")
    else:
        on_receipt_wait(state, queue, now)


def _is_hopeless(session: Session) -> bool:
    return session.wait.running and not session.failing and session.wait.timeouts + 1 >= PATIENCE


def give_up(state: State, session: Session, why: str) -> None:
    """Make dead letters of all remaining messages of a stream, which then ends."""
    left = make_dead_letters(state, session.queue, session.destination, why)
    forget(session, left)
    free(state, session.queue, left, NOT_KNOWN)


def start_anew(state: State, queue: int, gone: tuple[int, ...]) -> None:
    """Post the messages of a queue again that have not `gone`, because an administrator ended its stream."""
    session = state.sender.sessions.get(queue)
    if session is None:
        return
    stop_wait(state, session)
    forget(session, gone)
    session.posted = dict.fromkeys(session.posted, OLD_NUMBER)
    session.start_counting()
    go_again(state, session)

"""Ends streams of an older era (`reliquary.streams.closing` has the rules)."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.mqqb.sender.resending import on_order_wait, stop_wait
from reliquary.protocols.mqqb.sender.streams import forget, free, marked
from reliquary.protocols.mqqb.sessions.links import go_again
from reliquary.protocols.mqqb.state import SessionQueue, State
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.closing import PATIENCE, make_dead_letters


def is_free(state: State, route: SessionQueue) -> bool:
    """Return whether new messages may get numbers; if not, they wait for the end of the closed stream."""
    sent = state.sent.get(route.queue)
    if sent is None or not sent.stream.closed:
        return True
    if sent.awaiting:
        route.has_unsent = True
        return False
    give_up(state, route, "whether they were received is not known")
    return True


def on_wait_over(state: State, queue: int, now: Instant) -> None:
    """Send a stream again when its Transactional Ack Wait Timer fires, or give up an old closed stream."""
    route, sent = state.sender.routes.get(queue), state.sent.get(queue)
    if route is None or not route.wait.running:
        return
    hopeless = route.session and route.wait.timeouts + 1 >= PATIENCE
    if sent is not None and sent.stream.closed and hopeless:
        give_up(state, route, "they were sent several times and never confirmed")
    else:
        on_order_wait(state, route, now)


def give_up(state: State, route: SessionQueue, why: str) -> None:
    """Make dead letters of all remaining messages of a stream, which then ends."""
    left = make_dead_letters(state, route.queue, route.destination, why)
    forget(route, left)
    free(state, route.queue, left, NOT_KNOWN)


def start_anew(state: State, queue: int, gone: tuple[int, ...]) -> None:
    """Send the messages of a queue again in a new stream, because an administrator has ended the old one.

    Packets of the old stream that wait in an outbox are not sent any more.  The receiver may have those that
    were sent, and takes the messages in them a second time if they come under new numbers.
    """
    del gone  # `go_again` forgets all that is under way
    route = state.sender.routes.get(queue)
    if route is None:
        return
    stop_wait(state, route)
    route.retransmits.clear()
    route.progress.begin()
    route.wait.progress()
    route.mark = marked(state)  # no packet leaves before the end of the old stream is on disk
    go_again(state, route)

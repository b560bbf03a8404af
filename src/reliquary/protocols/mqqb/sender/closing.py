"""Ends streams of an older era (`reliquary.streams.closing` has the rules)."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.mqqb.sender.resending import on_order_wait, stop_wait
from reliquary.protocols.mqqb.sender.streams import forget, free, marked
from reliquary.protocols.mqqb.sessions.links import go_again
from reliquary.protocols.mqqb.state import SessionQueue, State
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.closing import PATIENCE, make_dead_letters


def is_free(state: State, outgoing: SessionQueue) -> bool:
    """Return whether new messages may get numbers; if not, they wait for the end of the closed stream."""
    sent = state.sent.get(outgoing.queue)
    if sent is None or not sent.stream.closed:
        return True
    if sent.awaiting:
        outgoing.has_unsent = True
        return False
    give_up(state, outgoing, "whether they were received is not known")
    return True


def on_wait_over(state: State, queue: int, now: Instant) -> None:
    """Send a stream again when its Transactional Ack Wait Timer fires, or give up an old closed stream."""
    outgoing, sent = state.sender.queues.get(queue), state.sent.get(queue)
    if outgoing is None or not outgoing.wait.running:
        return
    hopeless = outgoing.session and outgoing.wait.timeouts + 1 >= PATIENCE
    if sent is not None and sent.stream.closed and hopeless:
        give_up(state, outgoing, "they were sent several times and never confirmed")
    else:
        on_order_wait(state, outgoing, now)


def give_up(state: State, outgoing: SessionQueue, why: str) -> None:
    """Make dead letters of all remaining messages of a stream, which then ends."""
    left = make_dead_letters(state, outgoing.queue, outgoing.destination, why)
    forget(outgoing, left)
    free(state, outgoing.queue, left, NOT_KNOWN)


def start_anew(state: State, queue: int, gone: tuple[int, ...]) -> None:
    """Send the messages of a queue again in a new stream, because an administrator has ended the old one.

    Packets of the old stream that wait in an outbox are not sent any more.  The receiver may have those that
    were sent, and takes the messages in them a second time if they come under new numbers.
    """
    del gone  # `go_again` forgets all that is under way
    outgoing = state.sender.queues.get(queue)
    if outgoing is None:
        return
    stop_wait(state, outgoing)
    outgoing.retransmits.clear()
    outgoing.progress.begin()
    outgoing.wait.progress()
    outgoing.mark = marked(state)  # no packet leaves before the end of the old stream is on disk
    go_again(state, outgoing)

"""Begins and ends the stream of an outgoing queue, [MS-MQQB] 3.1.1.5.

    numbered --> session ack: accepted --> order ack: done
        |               |                      '----> if it asked for it, waits for its final ack --> done
        '-- sent again -'                                                         dead letter <--'

A number is assigned once, and is on disk before its packet leaves.  With the last number the stream
ends; the next message begins another, with a greater number (QB-120).  A stream may begin with any
number, so a stream whose first message expired continues.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import ContinueAfterSync
from reliquary.protocols.mqqb.events import HandOutStored
from reliquary.protocols.mqqb.sender.resending import stop_wait
from reliquary.protocols.mqqb.sessions.links import go_again, report_taken
from reliquary.protocols.mqqb.state import Session, SessionQueue, State
from reliquary.queueing.model.message import MessageClass
from reliquary.streams.apply import apply
from reliquary.streams.facts import NumbersFreed, StreamBegun, StreamEnded
from reliquary.streams.outgoing import Sent
from reliquary.streams.progress import progressed
from reliquary.streams.tables import OutgoingStream


def begin(state: State, outgoing: SessionQueue, stream: OutgoingStream) -> None:
    """Assign a new stream to a queue (QB-106, QB-121)."""
    apply(state, StreamBegun(outgoing.queue, stream))
    outgoing.progress.begin()
    outgoing.wait.progress()


def make_room(state: State, outgoing: SessionQueue, sent: Sent) -> None:
    """Report messages that the peer has to the manager, as long as few enough wait for an order ack.

    All are reported if the lowest number is not sent yet, because no order acknowledgement can come
    before that.
    """
    room = state.settings.awaiting - (sent.awaiting - len(outgoing.withheld))
    if room < len(outgoing.withheld):
        lowest = sent.at(sent.first_awaiting()) if sent.awaiting else 0
        if lowest not in outgoing.taken and lowest not in outgoing.under_way:
            room = len(outgoing.withheld)
    report_taken(state, outgoing, room)


def free(state: State, queue: int, lookup_ids: tuple[int, ...], reason: MessageClass) -> None:
    """Forget messages of a stream that have left the queue; with the last one the stream ends (QB-230)."""
    apply(state, NumbersFreed(queue, lookup_ids))
    sent, outgoing = state.sent[queue], state.sender.queues.get(queue)
    if reason.is_failure and outgoing is not None:
        outgoing.mark = marked(state)
    if outgoing is not None:
        outgoing.retransmits.difference_update(lookup_ids)
    if not sent.numbers:
        end(state, queue)
        if outgoing is not None and outgoing.has_unsent:
            go_again(state, outgoing)
    else:
        let_others_go(state, outgoing, sent)
    if outgoing is not None and reason.is_failure:  # an acknowledgement shows this by itself
        now_sent = state.sent.get(queue) or Sent(sent.stream)
        state.draft.signal(progressed(queue, now_sent, outgoing.progress, outgoing.wait))


def marked(state: State) -> int:
    """Return a mark for the writes of this turn: they are on disk when `stored_mark` has reached it."""
    sender = state.sender
    sender.last_mark += 1
    state.draft.ask(ContinueAfterSync(HandOutStored(sender.last_mark)))
    state.draft.wait()  # an earlier turn may have written what is handed out
    return sender.last_mark


def mark_ahead(state: State, session: Session, least: int) -> None:
    """Ask for a sync if fewer than `least` packets at the head of an outbox are on disk after the last one.

    A packet that is on disk when the window has room leaves at once.  As long as enough of them wait,
    no sync is requested, so that one sync serves many messages.
    """
    unmarked = min(session.unmarked, len(session.outbox))
    session.unmarked = unmarked
    if unmarked and len(session.outbox) - unmarked < least:
        marked(state)
        session.unmarked = 0


def on_stored(state: State, event: HandOutStored, now: Instant) -> None:
    """Record that the writes of a turn are on disk, so that their packets need not wait any more."""
    del now
    state.sender.stored_mark = max(state.sender.stored_mark, event.mark)


def let_others_go(state: State, outgoing: SessionQueue | None, sent: Sent) -> None:
    """Release the messages that waited behind a closed stream, once all of it is confirmed."""
    if sent.stream.closed and not sent.awaiting and outgoing is not None and outgoing.has_unsent:
        go_again(state, outgoing)


def end(state: State, queue: int) -> None:
    """End the stream, in which no further message is sent (QB-122)."""
    apply(state, StreamEnded(queue))
    outgoing = state.sender.queues.get(queue)
    if outgoing is not None:
        stop_wait(state, outgoing)


def forget(outgoing: SessionQueue, lookup_ids: tuple[int, ...]) -> None:
    """Forget that these messages are under way; a session acknowledgement for them has no effect any more."""
    for lookup_id in lookup_ids:
        entry = outgoing.under_way.pop(lookup_id, None)
        if entry is not None:
            entry.live = False
        outgoing.withheld.pop(lookup_id, None)
    outgoing.taken.difference_update(lookup_ids)

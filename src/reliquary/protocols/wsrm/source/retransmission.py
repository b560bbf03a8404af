"""Sends outstanding messages again if no acknowledgement or response came in time.

messages that were answered without an acknowledgement are sent again, oldest first, at most a window of them;
it counts for the oldest, because those behind it may only wait for it
messages whose request has no response yet do not: the network says when there will be none
a peer that is silent is asked by the end of the sequence what it has (`silence`)
a message that was sent too often, or whose content is lost, ends the sequence (`closing`)
"""

from __future__ import annotations

from itertools import islice

from reliquary.base.time import Instant
from reliquary.protocols.wsrm.source.closing import close, close_again, terminate
from reliquary.protocols.wsrm.source.flow import Polling
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posting import can_post, is_posted, session_of
from reliquary.protocols.wsrm.source.posts_due import schedule_posts
from reliquary.protocols.wsrm.source.sending import limit_of
from reliquary.protocols.wsrm.source.sessions import fail
from reliquary.protocols.wsrm.source.silence import is_silent, is_under_way, outstanding
from reliquary.protocols.wsrm.source.state import Flight, Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.waits import is_over, start_wait
from reliquary.protocols.wsrm.source.ways import SendingMode
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.link import ConnectionStatus


def on_time_out(state: State, number: int, now: Instant) -> None:
    """React to a time-out of the wait for an acknowledgement or a response."""
    sequence = state.source.sequences.get(number)
    if sequence is None or not is_over(state, sequence, now):
        return
    session = session_of(state, sequence)
    if not can_post(state, session):
        return
    if sequence.phase is Phase.CREATING:
        _create_again(state, session, sequence, now)
    elif sequence.phase is Phase.OPEN:
        _send_again(state, session, sequence, now)
    elif sequence.phase is Phase.CLOSING:
        close_again(state, sequence, now)
    else:
        terminate(state, sequence, now)


def _create_again(state: State, session: Session, sequence: Sequence, now: Instant) -> None:
    """Pause the queue; expired messages leave, then CreateSequence is sent again."""
    if is_posted(session, sequence, Purpose.CREATE):
        start_wait(state, sequence, now)
    else:
        fail(state, session, ConnectionStatus.CONNECTION_NOT_READY)


def _send_again(state: State, session: Session, sequence: Sequence, now: Instant) -> None:
    idle = [flight for flight in sequence.flights.values() if not flight.ticket]
    if not idle:
        if sequence.flights:
            start_wait(state, sequence, now)
        return
    if session.way.kind is SendingMode.DIAL and not session.is_open:
        return  # the queue pauses
    silent = is_silent(session)
    if silent and is_under_way(sequence):
        start_wait(state, sequence, now)
        return
    missing = outstanding(session, sequence)
    if session.way.kind is SendingMode.DIAL and (not missing or _is_hopeless(state, missing)):
        close(state, sequence, now)
        return
    oldest = islice(sequence.flights.values(), max(limit_of(session, sequence), 1))
    sequence.due.update(flight.number for flight in oldest if flight in missing)
    sequence.overdue = True
    first = missing[0] if silent else next(iter(sequence.flights.values()))
    if not first.ticket and sequence.flow.polling is not Polling.POLLING:  # a peer without room says so
        first.retries += 1  # those behind it may be dropped because of it
    sequence.timeouts += 1
    start_wait(state, sequence, now)
    schedule_posts(state, session.queue)


def _is_hopeless(state: State, idle: list[Flight]) -> bool:
    """Return whether a message was sent too often, or cannot be sent at all.

    The content of a message that left its queue is lost after a restart.  The content is also missing
    if many messages of a higher priority precede it in the queue.
    """
    return any(flight.message is None or flight.retries >= state.settings.retries for flight in idle)

"""Opens and closes sessions of outgoing queues.

ConnectionWanted          open: the manager hands out messages, and unacknowledged ones are sent again
a request failed          close; the queue pauses, then requests a connection again
QueuePaused               close
nothing to send for long  the sequence ends (`ending`), then the session closes
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.wsrm.schemes import BACK, offered_in
from reliquary.protocols.wsrm.source.apply import apply
from reliquary.protocols.wsrm.source.facts import QueueAssigned
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posting import hang_up
from reliquary.protocols.wsrm.source.posts_due import schedule_posts
from reliquary.protocols.wsrm.source.silence import outstanding
from reliquary.protocols.wsrm.source.state import Sequence, Session
from reliquary.protocols.wsrm.source.waits import start_wait, stop_wait
from reliquary.protocols.wsrm.source.ways import name_of, way_of, way_to
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    ConnectionChanged,
    ConnectionWanted,
    ManagerOnline,
    QueuePaused,
    QueueResumed,
)

IDLE: Final = "wsrm-idle"
"""The timer of each own sequence, which ends without messages."""
AHEAD: Final = 2
"""The multiple of the window that the manager hands out, so that the next message can leave at once."""
_ENDING: Final = frozenset({Phase.CLOSING, Phase.TERMINATING})


# -- open


def on_addressed(state: State, now: Instant) -> None:
    """Open the requested sessions, and continue sequences of an earlier process."""
    for sequence in state.source.sequences.values():
        if sequence.phase in _ENDING:
            start_wait(state, sequence, now)
        watch_idleness(state, sequence, now)
    _open_wanted(state)


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Open a session, once the address for acknowledgements is known."""
    del now
    state.source.wanted[signal.queue] = signal.destination
    if state.address.origin:
        _open_wanted(state)


def watch_idleness(state: State, sequence: Sequence, now: Instant) -> None:
    """Let an own sequence end when it was idle for long.

    One that a client offered ends with the sequence of that client.
    """
    if not sequence.row.offered_by:
        sequence.used = now
        state.draft.ask(SetTimer((IDLE, sequence.number), state.settings.idle))


def _open_wanted(state: State) -> None:
    wanted, state.source.wanted = state.source.wanted, {}
    for queue, destination in wanted.items():
        _open(state, _session(state, queue, destination))


def _session(state: State, queue: int, destination: str) -> Session:
    """Return the session of a queue, with the current way to its destination."""
    source = state.source
    sequence = _offered(state, queue, destination) or source.of_queue(queue)
    way = way_to(destination, state.settings) if sequence is None else way_of(sequence.row, state.settings)
    session = source.sessions.get(queue)
    if session is None:
        session = source.sessions[queue] = Session(queue, destination, way)
    session.way = way
    session.refusing = sequence is None and name_of(destination).authority == BACK
    return session


def _offered(state: State, queue: int, destination: str) -> Sequence | None:
    """Return the sequence that a client offered for messages of this name, if it has not ended."""
    source = state.source
    number = source.by_identifier.get(offered_in(name_of(destination)))
    sequence = None if number is None else source.sequences[number]
    if sequence is None or not sequence.row.offered_by:
        return None
    if sequence.row.queue != queue:
        apply(state, QueueAssigned(sequence.number, queue, destination))
    return sequence


def _open(state: State, session: Session) -> None:
    session.is_open = True
    state.draft.signal(
        ConnectionChanged(
            session.queue,
            OutgoingEvent.CONNECTED,
            ConnectionStatus.ESTABLISHED,
            addresses=_addresses(session),
            at_once=AHEAD * session.peer.window,
        )
    )
    sequence = state.source.of_queue(session.queue)
    if sequence is not None:
        sequence.due.update(flight.number for flight in outstanding(session, sequence))
    schedule_posts(state, session.queue)


def _addresses(session: Session) -> tuple[str, ...]:
    return (session.way.next_hop,) if session.way.next_hop else ()


# -- closed


def fail(
    state: State,
    session: Session,
    status: ConnectionStatus,
    rest: Duration | None = None,
) -> None:
    """Close the session after a failure; the queue pauses, longer each time, and requests a connection again.

    The peer could not be reached, so this is not counted as an attempt of a message.
    """
    was_open = session.is_open
    _close(state, session)
    if was_open:
        state.draft.signal(
            ConnectionChanged(
                session.queue, OutgoingEvent.FAILED, status, addresses=_addresses(session), rest=rest
            )
        )
    _forget(state, session)


def clean_up(state: State, session: Session) -> None:
    """Close a session whose sequence has ended, if nothing waits to be sent."""
    queue, was_open = session.queue, session.is_open
    _close(state, session)
    if was_open:
        status = ConnectionStatus.CONNECTION_NOT_READY
        state.draft.signal(ConnectionChanged(queue, OutgoingEvent.SESSION_CLEANED_UP, status))
    _forget(state, session)


def _forget(state: State, session: Session) -> None:
    """Forget a closed session without a sequence; the next connection has another one."""
    if not _sequences_of(state, session.queue):
        state.source.sessions.pop(session.queue, None)


def _close(state: State, session: Session) -> None:
    """Forget messages without a number, which the manager hands out again; the others keep their numbers."""
    session.is_open = False
    session.waiting.clear()
    hang_up(state, session)
    sequence = state.source.of_queue(session.queue)
    if sequence is not None and sequence.phase not in _ENDING:
        stop_wait(state, sequence)


# -- on hold and offline


def on_paused(state: State, signal: QueuePaused, now: Instant) -> None:
    """Close the session of a paused queue; nothing is sent, not even a request that ends a sequence."""
    del now
    session = state.source.sessions.get(signal.queue)
    if session is None:
        return
    session.paused = True
    _close(state, session)
    for sequence in _sequences_of(state, signal.queue):
        stop_wait(state, sequence)
    state.draft.signal(
        ConnectionChanged(signal.queue, OutgoingEvent.DISCONNECTED, ConnectionStatus.CONNECTION_NOT_READY)
    )


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """Let sequences of a resumed queue end; the manager requests a connection if messages wait."""
    session = state.source.sessions.get(signal.queue)
    if session is not None:
        session.paused = False
        for sequence in _sequences_of(state, signal.queue):
            if sequence.phase in _ENDING:
                start_wait(state, sequence, now)


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """Go online or offline; offline nothing is sent, so nothing is waited for."""
    state.source.online = signal.online
    for sequence in state.source.sequences.values():
        if not signal.online:
            stop_wait(state, sequence)
        elif sequence.phase in _ENDING or sequence.phase is Phase.CREATING or sequence.flights:
            start_wait(state, sequence, now)
    if signal.online:
        for queue in state.source.sessions:
            schedule_posts(state, queue)


def _sequences_of(state: State, queue: int) -> list[Sequence]:
    return [each for each in state.source.sequences.values() if each.row.queue == queue]

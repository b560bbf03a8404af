r"""Connects outgoing queues to sessions, pauses and resumes them, [MS-MQQB] 3.1.7.12 to 3.1.7.14.

DIRECT=TCP:10.0.0.7\private$\orders    host 10.0.0.7
DIRECT=OS:shop\private$\orders         host shop
PRIVATE=guid\4                         the manager with this GUID, for acknowledgements
PUBLIC=guid                            nowhere: only a directory knows it (NeedValidation)
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.mqqb.sender.resending import start_wait, stop_wait
from reliquary.protocols.mqqb.sender.transmitting import pump
from reliquary.protocols.mqqb.sessions import links
from reliquary.protocols.mqqb.sessions.closing import end_quietly
from reliquary.protocols.mqqb.sessions.opening import connect_queue
from reliquary.protocols.mqqb.state import SessionQueue, State
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.names.formats import DirectName, PrivateName, parse_single
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    ConnectionWanted,
    ManagerOnline,
    QueuePaused,
    QueueResumed,
)
from reliquary.streams.ladder import ReceiptWait


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Find or open the session for a destination with waiting messages (QB-271, QB-272).

    Nothing is opened before the server listens.  The manager repeats the request after a pause, as
    long as messages wait (QB-154).
    """
    state.sender.wanted[signal.queue] = signal.destination
    if state.addressed:
        connect_wanted(state, now)


def connect_wanted(state: State, now: Instant) -> None:
    """Connect the queues that wait for a session."""
    wanted, state.sender.wanted = state.sender.wanted, {}
    for queue, destination in wanted.items():
        if leads_home(state, destination):
            continue
        outgoing = state.sender.queues.get(queue)
        if outgoing is None:
            _remove_older(state, queue, destination)
            outgoing = state.sender.queues[queue] = _session_queue(state, queue, destination)
        outgoing.paused = False
        if not outgoing.host and outgoing.manager == NO_GUID:
            # only a directory knows the address, so nothing is tried again (QB-171)
            links.lose(
                state, outgoing, OutgoingEvent.VALIDATION_NEEDED, ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE
            )
            continue
        connect_queue(state, outgoing, now)
        session = state.sessions.get(outgoing.session)
        if session is not None:
            pump(state, session, now)


def _session_queue(state: State, queue: int, destination: str) -> SessionQueue:
    """Return the queue to a destination (QB-174); that of a PUBLIC name has no host and no manager."""
    name, wait = parse_single(destination), ReceiptWait(state.settings.resend_ladder)
    if isinstance(name, PrivateName):
        if not state.receiver.refusals.of(name.computer):
            state.receiver.unsettled.add(name.computer)  # they may be from before a restart
        return SessionQueue(queue, destination, "", wait, name.computer)
    host = name.host.casefold() if isinstance(name, DirectName) else ""
    return SessionQueue(queue, destination, host, wait)


def _remove_older(state: State, queue: int, destination: str) -> None:
    """Remove an earlier queue for a destination, which the manager deleted when it was idle."""
    sender = state.sender
    older, sender.queue_to[destination] = sender.queue_to.get(destination, 0), queue
    outgoing = sender.queues.get(older)
    if outgoing is None or outgoing.under_way or older in state.sent:
        return
    del sender.queues[older]
    session = state.sessions.get(outgoing.session)
    if session is not None:
        session.queues.discard(older)


def leads_home(state: State, destination: str) -> bool:
    """Return whether a destination is at this manager; its queue was made before the addresses were known."""
    name = parse_single(destination)
    return isinstance(name, DirectName) and name.host.casefold() in state.own_hosts


def on_paused(state: State, signal: QueuePaused, now: Instant) -> None:
    """Stop sending for a paused queue; packets that are under way are still acknowledged (QB-315)."""
    # DEPARTS from 3.1.7.13 (QB-315): no window of 1 is sent to the peer, because it would throttle the
    # other direction (G-53).
    del now
    outgoing = state.sender.queues.get(signal.queue)
    if outgoing is None:
        return
    outgoing.paused = True
    session = state.sessions.get(outgoing.session)
    if session is not None:
        links.park(session, outgoing)
    stop_wait(state, outgoing)


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """Wait for acknowledgements of a resumed queue again (QB-316).

    The manager requests a connection if needed.
    """
    outgoing = state.sender.queues.get(signal.queue)
    if outgoing is None:
        return
    outgoing.paused = False
    sent = state.sent.get(signal.queue)
    if sent is not None and sent.awaiting:
        start_wait(state, outgoing, now)
    session = state.sessions.get(outgoing.session)
    if session is not None and session.is_open:
        links.connect(state, session, outgoing)
        pump(state, session, now)


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """Go online or offline; offline all sessions are closed and none is accepted."""
    del now
    state.online = signal.online
    if not signal.online:
        for session in list(state.sessions.values()):
            end_quietly(state, session, OutgoingEvent.DISCONNECTED)

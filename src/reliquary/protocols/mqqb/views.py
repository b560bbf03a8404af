"""Makes records of MQQB's sessions and streams for administrators.

It reads the state and never changes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.base.time import as_text
from reliquary.protocols.mqqb.administration import name_of
from reliquary.protocols.mqqb.nouns import SessionInfo
from reliquary.protocols.mqqb.state import Session
from reliquary.protocols.mqqb.state import State as MqqbState
from reliquary.protocols.mqqb.tables import NAME
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.names.formats import DirectName
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.outgoing import destination_of, link_of
from reliquary.streams.records import StreamInfo, incoming_record, outgoing_record


def sessions(state: MqqbState) -> Iterator[SessionInfo]:
    """Yield all sessions: those that this manager opened, then those that it accepted, the oldest first."""
    for session in sorted(state.sessions.values(), key=lambda each: (each.accepted, abs(each.number))):
        yield _record(state, session)


def _record(state: MqqbState, session: Session) -> SessionInfo:
    queues = state.sender.queues
    return SessionInfo(
        name=name_of(session),
        direction="in" if session.accepted else "out",
        peer=session.address or session.host,
        manager=None if session.peer == NO_GUID else str(session.peer),
        state=session.phase.value,
        window=session.room,
        unacknowledged=len(session.outstanding),
        unstored=len(session.unstored),
        waiting=len(session.outbox),
        to_acknowledge=session.unacked,
        sent=session.sent,
        received=session.received,
        queues=sorted(queues[queue].destination for queue in session.queues if queue in queues),
        since=as_text(session.began),
    )


def streams(state: State, mqqb: MqqbState) -> Iterator[StreamInfo]:
    """Yield all streams: those that go, by destination, then those that come, by queue (T-78)."""
    yield from sorted(_outgoing(state, mqqb), key=lambda each: each.queue.casefold())
    incoming = [incoming_record(NAME, each) for each in mqqb.places]
    yield from sorted(incoming, key=lambda each: (each.queue, each.peer))


def _outgoing(state: State, mqqb: MqqbState) -> Iterator[StreamInfo]:
    for number, sent in mqqb.sent.items():
        queue = state.queues.get(number)
        if queue is None or queue.link is None:
            continue
        name = destination_of(queue)
        peer = name.host if isinstance(name, DirectName) else ""
        yield outgoing_record(NAME, number, str(name), peer, sent, link_of(queue).transfer)

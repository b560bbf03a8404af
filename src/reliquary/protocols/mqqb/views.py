"""Records of MQQB's sessions, for administrators; read from the state, never changed."""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.base.time import as_text
from reliquary.protocols.mqqb.administration import name_of
from reliquary.protocols.mqqb.nouns import SessionInfo
from reliquary.protocols.mqqb.state import Session, State
from reliquary.queueing.model.message import NO_GUID


def sessions(state: State) -> Iterator[SessionInfo]:
    """Yield all sessions: those that this manager opened, then those that it accepted, the oldest first."""
    for session in sorted(state.sessions.values(), key=lambda each: (each.accepted, abs(each.number))):
        yield _record(state, session)


def _record(state: State, session: Session) -> SessionInfo:
    routes = state.sender.routes
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
        queues=sorted(routes[queue].destination for queue in session.routes if queue in routes),
        since=as_text(session.began),
    )

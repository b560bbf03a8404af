"""Closes sessions and resets streams, as an administrator or the server requests."""

from __future__ import annotations

from functools import partial

from reliquary.base.time import Instant
from reliquary.base.turn import Reply
from reliquary.protocols.mqqb.events import CloseSession, EndSessions, ResetStream
from reliquary.protocols.mqqb.sender.closing import start_anew
from reliquary.protocols.mqqb.sessions.closing import end_quietly
from reliquary.protocols.mqqb.state import Session, State
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.link import OutgoingEvent
from reliquary.streams.resetting import reset


def name_of(session: Session) -> str:
    """Return the name of a session: `out-` or `in-` and its number."""
    return f"in-{-session.number}" if session.accepted else f"out-{session.number}"


def on_close_session(state: State, event: CloseSession, now: Instant) -> None:
    """Close a session, or report that no session has this name."""
    del now
    session = next((each for each in state.sessions.values() if name_of(each) == event.session), None)
    if session is None:
        state.draft.ask(Reply(event.to, Done(False, f"there is no session {event.session}")))
        return
    end_quietly(state, session, OutgoingEvent.FAILED)
    state.draft.ask(Reply(event.to, Done(True)))


def on_end_sessions(state: State, event: EndSessions, now: Instant) -> None:
    """Send acknowledgements that are due, and close all sessions, because the server stops (QB-168)."""
    del event, now
    state.addressed = False
    for session in list(state.sessions.values()):
        end_quietly(state, session, OutgoingEvent.DISCONNECTED)


def on_reset(state: State, event: ResetStream, now: Instant) -> None:
    """Reset a stream that cannot continue by itself, or report that no stream has this name."""
    reset(state, event, now, partial(start_anew, state))

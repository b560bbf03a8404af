"""Describes sessions as a noun of administration: the connections to other queue managers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqb.events import CloseSession
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, RecordFormat


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session at the time of the request: one TCP connection to another queue manager."""

    name: str
    """`out-3` for a session that this manager opened, `in-5` for one that it accepted."""
    direction: str
    """The direction of the stream: `out` or `in`."""
    peer: str
    """The IP address of the peer, or the host while it is dialled."""
    manager: str | None
    """The identifier of the peer; None before it is known."""
    state: str
    """`open`, or the packet that the handshake waits for."""
    window: int
    """The number of packets that may be under way: the smaller of both windows."""
    unacknowledged: int
    """The number of packets that this manager sent and the peer has not acknowledged."""
    unstored: int
    """The number of recoverable messages that the peer has not reported as stored."""
    waiting: int
    """The number of packets that wait for room in the window."""
    to_acknowledge: int
    """The number of packets of the peer that this manager has not acknowledged."""
    sent: int
    """The number of user packets that were sent."""
    received: int
    """The number of user packets that came."""
    queues: list[str]
    """The destinations of outgoing queues that use the session."""
    since: str
    """When the session was begun."""


def _sessions(machines: Machines) -> Iterator[SessionInfo]:
    from reliquary.protocols.mqqb.machine import Mqqb
    from reliquary.protocols.mqqb.views import sessions

    return sessions(machines.machine(Mqqb).state)


def _session(machines: Machines, name: str) -> SessionInfo | None:
    return next((each for each in _sessions(machines) if each.name == name), None)


SESSION: Final = Noun(
    name="session",
    plural="sessions",
    record=SessionInfo,
    summary="List, show and close the sessions of MQQB with other queue managers.",
    listing=Listing(
        records=_sessions,
        columns=("name", "peer", "state", "window", "unacknowledged", "waiting", "sent", "received"),
        help="List the sessions with other queue managers, those that this manager opened first.\n\n"
        "`unacknowledged` are packets that the peer has not acknowledged; at most `window` are under way, "
        "and the others are `waiting`.",
    ),
    showing=RecordFormat(
        key="name",
        kind=str,
        record=_session,
        missing=HResult.OBJECT_NOT_FOUND,
        missing_sentence="there is no session {}",
        help="Show all that is known of session NAME.",
        example="out-1",
    ),
    acts=(
        Act(
            verb="close",
            event=CloseSession,
            help="Close session NAME.  Messages that were not acknowledged are sent again on the next "
            "session, which is opened after a short time if messages wait.",
        ),
    ),
)

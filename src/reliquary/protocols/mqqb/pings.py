"""Answers pings, [MS-MQQB] 3.1.7.6 to 3.1.7.9: a datagram asks whether a session would be accepted.

Windows since Vista sends none and answers none, so both are off unless the settings ask for them.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.mqqb.effects import SendPing
from reliquary.protocols.mqqb.events import PingArrived
from reliquary.protocols.mqqb.sessions.opening import is_full
from reliquary.protocols.mqqb.state import State
from reliquary.wire.packet.ping import decode_ping


def response_to(request: bytes, response: bytes) -> bool | None:
    """Return whether a session would be accepted; None if a datagram is no response to this request."""
    # DEPARTS from 2.2.7 (QB-087): a response counts for the request with its cookie, and not for the
    # latest one alone, because two pings may wait at once (G-57).
    asked, answered = decode_ping(request), decode_ping(response)
    if asked is None or answered is None or answered.cookie != asked.cookie:  # QB-085, QB-313
        return None
    return not answered.refused


def on_ping(state: State, event: PingArrived, now: Instant) -> None:
    """Answer a ping as a new session would be answered (QB-311, QB-312); other datagrams are ignored."""
    del now
    asked = decode_ping(event.data)
    if asked is None or not state.settings.answer_pings:
        return
    refused = is_full(state) or not state.online
    answer = asked.answer(state.identity.lineage, refused=refused).encode()
    state.draft.ask(SendPing(event.address, event.port, answer))

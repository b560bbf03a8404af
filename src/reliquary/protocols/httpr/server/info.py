"""Answers GET-RESPONDER-INFO, 5.1, with a new session, or with the answer that there are no sessions."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.httpr.codec.values import VERSION
from reliquary.protocols.httpr.server import responses, sessions
from reliquary.protocols.httpr.server.channel import PendingRequest, ServerChannel
from reliquary.protocols.httpr.server.report import settle
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import OutcomeMessage


def serve(state: State, channel: ServerChannel, request: PendingRequest, now: Instant) -> None:
    """Answer GET-RESPONDER-INFO with the recorded state of this channel."""
    header = request.header
    settle(state, channel.number, header, OutcomeMessage.INFO_REQUEST)
    pair = responses.last_outcome(state.channels[channel.number])  # HR-066
    if not state.settings.offered.sessions:
        responses.respond(
            state,
            channel,
            request,
            now,
            pair=pair,
            ending=True,
            version=VERSION,
            capabilities=sessions.SESSIONLESS_ONLY,
        )
        return
    session, lowered = sessions.begin(state, channel, header.capabilities, request.event.by, now)
    responses.respond(
        state,
        channel,
        request,
        now,
        pair=pair,
        version=VERSION,
        session_id=session.identifier,
        capabilities=lowered,
    )

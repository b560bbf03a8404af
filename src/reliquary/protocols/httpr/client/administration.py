"""Performs two requests of administrators for a channel of the client: REPORT and `forget`."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer, Reply
from reliquary.protocols.httpr.client.advance import advance
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.channels import channel_of_row
from reliquary.protocols.httpr.client.failures import RETRY, end_session
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.events import ForgetChannel, ReportChannel
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.model.administration import Done


def on_report_wanted(state: State, event: ReportChannel, now: Instant) -> None:
    """Send a REPORT as soon as possible; its response answers the administrator."""
    channel = _client_channel(state, event.channel, event.to, "send a REPORT over it", now)
    if channel is not None:
        channel.requested.report_callers.append(event.to)
        _hurry(state, channel, now)


def forget(state: State, event: ForgetChannel, now: Instant) -> None:
    """Forget a channel on both sides as soon as possible; the response of the peer completes the request."""
    channel = _client_channel(state, event.channel, event.to, "forget it", now)
    if channel is not None:
        channel.requested.forget_callers.append(event.to)
        channel.requested.leaving = True
        _hurry(state, channel, now)


def _client_channel(state: State, number: int, to: int, what: str, now: Instant) -> ClientChannel | None:
    """Return the channel if it belongs to the client agent.

    Otherwise refuse the request of the administrator.
    """
    row = state.channels.get(number)
    if row is None:
        why = f"there is no channel {number}"
    elif row.role is not Role.CLIENT:
        why = f"channel {number} is driven by {row.requester}; only that agent can {what}"
    elif not state.origin:
        why = "HTTPR has no name yet; the server does not listen"
    else:
        return channel_of_row(state, row, now)
    state.draft.ask(Reply(to, Done(False, why)))
    return None


def _hurry(state: State, channel: ClientChannel, now: Instant) -> None:
    """End a pause after a failure, or cancel waiting PULLs, and advance the channel."""
    pending = channel.connection.pending
    if channel.phase is Phase.RESTING:
        state.draft.ask(CancelTimer((RETRY, channel.number)))
        end_session(state, channel)
    elif pending and all(request.command is Command.PULL for request in pending):
        end_session(state, channel)
    advance(state, channel, now)

"""Performs `forget`, the request of an administrator for a channel of the server."""

from __future__ import annotations

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.facts import ChannelOpened, Side, SideForgotten
from reliquary.protocols.httpr.server import pull, responses, sessions
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel


def close_channel(state: State, row: Channel, now: Instant) -> None:
    """Refuse all requests of a channel with 516 and end its session, unless batches are in doubt.

    A batch of a PULL that still waits was never sent, so it is not in doubt.  The channel then has no
    owner, and its client counts as one that does not fetch until its next PULL.
    """
    channel = state.server.channels.get(row.number)
    waiting = None if channel is None else channel.pull
    if {*row.in_doubt} - {0 if waiting is None else waiting.batch}:
        return
    if channel is not None:
        pull.abandon(state, channel)
        for request in list(channel.requests):
            why = "an administrator made the server forget the channel"
            responses.refuse(state, channel, request, now, ErrorNumber.ADMINISTRATOR_CLOSED, why)
        sessions.end(state, channel)
    if row.owner or row.pulled:
        apply(state, ChannelOpened(replace(state.channels[row.number], owner="", pulled=False)))


def forget(state: State, row: Channel) -> None:
    """Forget the ids of both directions of a channel."""
    if row.has_source_state:
        apply(state, SideForgotten(row.number, Side.SOURCE))
    if row.has_sink_state:
        apply(state, SideForgotten(row.number, Side.SINK))

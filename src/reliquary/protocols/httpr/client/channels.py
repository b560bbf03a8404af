"""Finds the channel of an outgoing queue: one for each < client ; channel ; responder > (1.4, HR-009).

DIRECT=HTTPR://host/httpr/mq#orders    over the channel "orders", or the one that the peer's settings name
DIRECT=HTTPR://far/httpr/mq#orders     over that channel, but to the peer that carries messages for `far`
messages that are fetched              over a channel of their own, unless the peer's settings name one:
                                       a waiting PULL there delays no other request
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.httpr.addresses import agent_of, contact_url, own_agent, read_target, target_uri
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import ClientChannel, Fetching
from reliquary.protocols.httpr.client.connection import Connection
from reliquary.protocols.httpr.facts import ChannelOpened
from reliquary.protocols.httpr.memory import new_channel
from reliquary.protocols.httpr.settings import Peer
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel, Role

FETCHING: Final = "fetch"
"""The name of the channel over which messages are fetched, unless the settings name another one."""
PLAIN: Final = "default"
"""The name of the channel for messages without a Destination."""
IDLE: Final = "httpr-forget"
"""The timer after which an idle channel is forgotten."""


def sending_channel(peer: Peer, destination: str) -> str:
    """Return the name of the channel for messages to this Destination."""
    return peer.channel or (FETCHING if peer.exchange else destination or PLAIN)


def fetching_channel(peer: Peer) -> str:
    """Return the name of the channel over which messages are fetched."""
    return peer.channel or FETCHING


def channel_for_queue(state: State, queue: int, destination: str, now: Instant) -> ClientChannel:
    """Return the channel that carries an outgoing queue, and open it if there is none."""
    number = state.client.by_queue.get(queue)
    if number is not None:
        return state.client.channels[number]
    responder = state.settings.next_hop(agent_of(destination))
    target = read_target(target_uri(destination))
    name = sending_channel(state.settings.peer(responder), "" if target is None else target.destination)
    channel = channel_to(state, responder, name, now)
    state.client.by_queue[queue] = channel.number
    channel.outgoing.queues[queue] = None
    return channel


def channel_to(state: State, responder: str, name: str, now: Instant) -> ClientChannel:
    """Return the channel of this name to this responder, and open it if there is none."""
    row = state.find_client_channel(name, responder)
    if row is not None:
        return channel_of_row(state, row, now)
    # HR-087: the requester is in the channel's row, and stays when this manager's name changes
    requester = state.settings.requester or own_agent(state.origin, state.settings.manager_service)
    row = new_channel(state, Role.CLIENT, requester, name, responder)
    apply(state, ChannelOpened(row))
    return _start(state, row, now)


def channel_of_row(state: State, row: Channel, now: Instant) -> ClientChannel:
    """Return the channel of a row, and start it if this process has not used it yet.

    After a restart it is unknown whether a batch from the peer was lost, so the channel is unresolved.
    """
    channel = state.client.channels.get(row.number)
    if channel is None:
        channel = _start(state, row, now)
        channel.unresolved = channel.fetching.enabled or row.has_sink_state
        channel.unasked = True
    return channel


def _start(state: State, row: Channel, now: Instant) -> ClientChannel:
    peer = state.settings.peer(row.responder)
    channel = state.client.channels[row.number] = ClientChannel(
        row.number,
        peer,
        contact_url(row.responder, peer.url),
        Connection(last_used=now),
        fetching=Fetching(enabled=peer.pull and row.name == fetching_channel(peer)),
    )
    if not channel.fetching.enabled:
        state.draft.ask(SetTimer((IDLE, row.number), state.settings.forget_after))
    return channel

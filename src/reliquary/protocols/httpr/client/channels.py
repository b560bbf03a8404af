"""Which channel brings which queue: one for each < our client agent ; channel ; responder > (1.4, HR-009).

DIRECT=HTTPR://host/httpr/mq#orders    over the channel "orders", or the one that the peer's settings name
DIRECT=HTTPR://far/httpr/mq#orders     the same, to the peer that carries what is for `far`
what is fetched                        over a channel of its own, unless the peer's settings name one:
                                       there a PULL that waits delays nothing
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.httpr.addresses import agent_of, contact_url, own_agent, read_target, target_uri
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import Driven
from reliquary.protocols.httpr.client.report import knows_sink
from reliquary.protocols.httpr.facts import ChannelOpened
from reliquary.protocols.httpr.settings import Peer
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.queueing.travel.link import ConnectionStatus, Happening
from reliquary.queueing.travel.transfer import ConnectionChanged

FETCHING: Final = "fetch"
"""The channel over which messages are fetched, where no other is named."""
PLAIN: Final = "default"
"""The channel of messages that name no queue."""
IDLE: Final = "httpr-forget"
"""The timer after which an idle channel is forgotten."""


def sending_channel(peer: Peer, destination: str) -> str:
    """The channel that brings messages to this Destination."""
    return peer.channel or (FETCHING if peer.exchange else destination or PLAIN)


def fetching_channel(peer: Peer) -> str:
    """The channel over which messages are fetched."""
    return peer.channel or FETCHING


def driven_for_queue(state: State, queue: int, destination: str, now: Instant) -> Driven:
    """The channel that brings an outgoing queue."""
    number = state.brought_by.get(queue)
    if number is not None:
        return state.driven[number]
    responder = state.settings.next_hop(agent_of(destination))
    target = read_target(target_uri(destination))
    name = sending_channel(state.settings.peer(responder), "" if target is None else target.destination)
    driven = driven_for(state, responder, name, now)
    state.brought_by[queue] = driven.channel
    driven.queues[queue] = None
    return driven


def driven_for(state: State, responder: str, name: str, now: Instant) -> Driven:
    """The channel of ours with this name to this responder; it is opened where there is none."""
    channel = state.find_ours(name, responder)
    if channel is not None:
        return drive_known(state, channel, now)
    # HR-087: the requester is in the channel's row, and stays whatever we are called later
    requester = state.settings.requester or own_agent(state.origin, state.settings.manager_service)
    channel = Channel(state.numbers.channel + 1, Role.CLIENT, requester, name, responder)
    apply(state, ChannelOpened(channel))
    return _begin(state, channel, now)


def drive_known(state: State, channel: Channel, now: Instant) -> Driven:
    """What goes on over a channel; after a restart nobody knows whether a batch of the peer's got lost."""
    driven = state.driven.get(channel.number)
    if driven is None:
        driven = _begin(state, channel, now)
        driven.unresolved = driven.fetches or knows_sink(channel)
    return driven


def _begin(state: State, channel: Channel, now: Instant) -> Driven:
    peer = state.settings.peer(channel.responder)
    driven = state.driven[channel.number] = Driven(
        channel.number,
        peer,
        contact_url(channel.responder, peer.url),
        fetches=peer.pull and channel.name == fetching_channel(peer),
        used=now,
    )
    if not driven.fetches:
        state.draft.ask(SetTimer((IDLE, channel.number), state.settings.forget_after))
    return driven


# -- who comes for messages


def leave_to_fetcher(state: State, requester: str) -> None:
    """An agent fetches what is for it: its queues wait for nobody else, and tell when they have something."""
    agent = agent_of(requester)
    for queue, destination in state.waiting.items():
        if agent_of(destination) == agent:
            tell_connected(state, queue)


def tell_connected(state: State, queue: int, *addresses: str) -> None:
    """An outgoing queue has its connection."""
    established = ConnectionStatus.ESTABLISHED
    state.draft.tell(ConnectionChanged(queue, Happening.CONNECTED, established, addresses=addresses))

"""Handles the events, signals and timers of the client agent.

Each rule changes a channel and then calls `advance`, which decides what the channel sends next.

Modules of this folder:

    agent            events of the network, signals of the queue manager and timers
    advance          the choice of the next request  phases          the table of phases of a channel
    channels         the channel of each queue       channel, state  what is known while the process runs
    connection       requests without a response     session         the capabilities both sides agreed on
    refusals         what the peer refused           requests        the header of every request
    info             GET-RESPONDER-INFO              report          REPORT, `forget` and the end of a session
    push             PUSH, first half of EXCHANGE    pull            PULL, second half of EXCHANGE
    flow_responses   responses to these three        outcomes        outcomes of batches in doubt
    failures         retry, reconnect                reactions       the table of errors
    administration   requests of administrators
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.httpr.batches import discard_bodies
from reliquary.protocols.httpr.client import failures, flow_responses, info, pull, push, report
from reliquary.protocols.httpr.client.advance import advance, advance_all
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.channels import (
    IDLE,
    channel_for_queue,
    channel_of_row,
    channel_to,
    fetching_channel,
)
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.client.outcomes import resume
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.events import RequestFailed, ResponseArrived
from reliquary.protocols.httpr.outgoing import is_fetcher, report_connected
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    BatchJudged,
    ConnectionWanted,
    ManagerOnline,
    MessagesReserved,
    MessagesWaiting,
    QueueResumed,
)

# -- the queue manager


def on_addressed(state: State, now: Instant) -> None:
    """Resolve batches in doubt, fetch from the peers in the settings, and send the messages that wait.

    This is called when the server listens, because the name of the agent is known from then on.
    """
    for row in list(state.channels.values()):
        if row.role is Role.CLIENT:
            channel_of_row(state, row, now)
    for peer in state.settings.peers:
        if peer.pull:
            channel_to(state, peer.responder, fetching_channel(peer), now)
    advance_all(state, now)
    for queue, destination in list(state.waiting.items()):
        _bring(state, queue, destination, now)


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Connect an outgoing queue that has its first messages for an agent."""
    state.waiting[signal.queue] = signal.destination
    if state.origin:
        _bring(state, signal.queue, signal.destination, now)


def _bring(state: State, queue: int, destination: str, now: Instant) -> None:
    """Send the messages of a queue, and report it as connected if it is, or if the peer fetches them."""
    channel = _wake(state, queue, destination, now)
    if is_fetcher(state, state.channels[channel.number].responder):
        report_connected(state, queue)
    elif channel.outgoing.reported_connected:
        report_connected(state, queue, channel.url)


def on_waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """Send the messages of an outgoing queue that has messages again."""
    if signal.destination and state.origin:
        _wake(state, signal.queue, signal.destination, now)


def _wake(state: State, queue: int, destination: str, now: Instant) -> ClientChannel:
    """Mark a queue as ready, advance the channel that carries it, and return the channel."""
    channel = channel_for_queue(state, queue, destination, now)
    channel.outgoing.ready.setdefault(queue, None)
    channel.requested.leaving = bool(channel.requested.forget_callers)
    advance(state, channel, now)
    return channel


def on_reserved(state: State, signal: MessagesReserved, now: Instant) -> None:
    """Continue a batch when the queue manager has reserved its messages, or has none."""
    channel = state.client.channels[signal.key[0]]
    push.on_reserved(state, channel, signal, now)
    advance(state, channel, now)


def on_judged(state: State, signal: BatchJudged, now: Instant) -> None:
    """Record the decision of the queue manager about a fetched batch."""
    channel = state.client.channels[signal.ticket]
    pull.on_judged(state, channel, signal)
    advance(state, channel, now)


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """Go on when the queue manager goes online or offline; batches in doubt are resolved in either case."""
    state.client.online = signal.online
    if signal.online:
        for queue, destination in list(state.waiting.items()):
            _wake(state, queue, destination, now)
    advance_all(state, now)


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """Send the messages of an outgoing queue that was resumed."""
    destination = state.waiting.get(signal.queue)
    if destination:
        _wake(state, signal.queue, destination, now)


# -- the network


_OnResponse = Callable[[State, ClientChannel, SentRequest, ResponseArrived, Instant], None]
_ON_RESPONSE: Final[dict[Command, _OnResponse]] = {
    Command.GET_RESPONDER_INFO: info.on_response,
    Command.REPORT: report.on_response,
    Command.PUSH: flow_responses.on_response,
    Command.PULL: flow_responses.on_response,
    Command.EXCHANGE: flow_responses.on_response,
}


def on_response(state: State, event: ResponseArrived, now: Instant) -> None:
    """Process a complete response; responses of older connections are ignored (HR-042, HR-043)."""
    channel = state.client.channels.get(event.channel)
    if channel is None or event.epoch != channel.connection.epoch or not channel.connection.is_open:
        discard_bodies(state, event.batch)
        return
    request = channel.connection.pending.popleft()
    assert request.number == event.number, f"response {event.number} came before {request.number}"  # HR-047
    channel.connection.last_used = now
    row, named = state.channels[channel.number], event.header.responder
    if named and named != row.responder:  # HR-089: another agent answers at this URL
        discard_bodies(state, event.batch)
        channel.connection.pending.appendleft(request)
        why = f"the agent at {channel.url} is {named}, not {row.responder}"
        failures.retry_later(state, channel, why, long=True)
        return
    if not channel.outgoing.reported_connected:
        channel.outgoing.reported_connected = True
        failures.report_links(state, channel, OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED)
    final = channel.phase is Phase.LEAVING
    handle = report.on_final_response if final else _ON_RESPONSE[request.command]
    handle(state, channel, request, event, now)
    advance(state, channel, now)


def on_failed(state: State, event: RequestFailed, now: Instant) -> None:
    """End the pending requests of a connection, because no response will come."""
    channel = state.client.channels.get(event.channel)
    if channel is not None and event.epoch == channel.connection.epoch and channel.connection.is_open:
        failures.on_failed(state, channel, event)
        advance(state, channel, now)


# -- timers


def on_retry(state: State, number: int, now: Instant) -> None:
    """Send the next request when the pause after a failure is over."""
    channel = state.client.channels[number]
    if channel.phase is Phase.RESTING:
        if channel.connection.is_open:
            resume(state, channel)
        else:
            failures.end_session(state, channel)
        advance(state, channel, now)


def on_fetch(state: State, number: int, now: Instant) -> None:
    """Send the next PULL when the pause between two PULLs is over."""
    channel = state.client.channels[number]
    channel.fetching.paused = False
    advance(state, channel, now)


def on_idle(state: State, number: int, now: Instant) -> None:
    """Forget a channel on both sides if it was idle long enough, and set the timer again."""
    channel, row, span = state.client.channels[number], state.channels[number], state.settings.forget_after
    left = span - max(now - channel.connection.last_used, 0)
    if left <= 0 and channel.phase in (Phase.CLOSED, Phase.READY) and not row.in_doubt:
        has_session = bool(channel.session.identifier)
        channel.requested.leaving = has_session or row.has_source_state or row.has_sink_state
        advance(state, channel, now)
    state.draft.ask(SetTimer((IDLE, number), Duration(left if left > 0 else span)))

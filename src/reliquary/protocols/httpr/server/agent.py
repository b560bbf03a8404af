"""Handles the events, signals and timers of the server agent.

RequestArrived --> identify --> the channel's requests --> dispatch: its command --> Answer
                      |                 |
              511, 512, 520, 525,  older connections end (3.8)
              528, 530, 510

Modules of this folder:

agent            events of the network, signals of the queue manager and timers
identify         which channel a request is for    connections     the newest connection of a channel (3.8)
dispatch         one request after another         channel, state  what is known while the process runs
sessions         sessions and capabilities
info             GET-RESPONDER-INFO                report          REPORT
push             PUSH, first half of EXCHANGE      pull            PULL, second half of EXCHANGE
responses        the header of every response      refusals        the table of errors
administration   requests of administrators
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.httpr.batches import discard_bodies
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.events import ConnectionGone, RequestArrived, RequestBegun
from reliquary.protocols.httpr.server import connections, pull, push, responses, sessions
from reliquary.protocols.httpr.server.dispatch import serve_next
from reliquary.protocols.httpr.server.identify import find_number, find_row, identify, may_use, own_name
from reliquary.protocols.httpr.state import State
from reliquary.queueing.model.travel.transfer import BatchJudged, MessagesReserved, MessagesWaiting

# -- the network


def on_request_begun(state: State, event: RequestBegun, now: Instant) -> None:
    """End older connections of a channel when the header of a request on a newer one is complete."""
    del now
    number = find_number(state, event.service, event.header)
    channel = None if number is None else state.server.channels.get(number)
    if channel is None or not may_use(state.channels[channel.number], event.by):
        return
    if event.connection < channel.connection:
        state.draft.ask(CutConnection(event.connection))
    else:
        connections.carry(state, channel, event.connection)


def on_request(state: State, event: RequestArrived, now: Instant) -> None:
    """Refuse a complete request, or keep it until the earlier requests of its channel are answered."""
    if event.header is None:
        connections.end_sessions(state, event.connection)
        number = event.fault or ErrorNumber.NOT_HTTP_R
        responses.refuse_unidentified(state, event, number, event.why)
        return
    try:
        channel, request = identify(state, event, event.header, now)
    except HttprFault as refused:
        if refused.number is ErrorNumber.HTTP_R_VERSION_NOT_SUPPORTED:
            connections.end_sessions(state, event.connection)
        name, row = own_name(state, event), find_row(state, event.service, event.header)
        responses.refuse_unidentified(state, event, refused.number, refused.why, name, row)
        return
    if event.connection < channel.connection:
        state.draft.ask(CutConnection(event.connection))
        discard_bodies(state, event.batch)
        connections.answer_ignored(state, event)
        return
    connections.carry(state, channel, event.connection)
    if len(channel.requests) >= request.agreed.maximum_pipeline_depth:
        request.fault = ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED  # HR-045
        request.why = "too many requests"
    channel.requests.append(request)
    pull.make_way(state, channel, now)
    serve_next(state, channel, now)


def on_connection_gone(state: State, event: ConnectionGone, now: Instant) -> None:
    """Drop the requests of a connection that ended.

    Its number stays with its channels, so that requests on older connections are still ignored.
    """
    del now
    gone = state.server.connections.pop(event.connection, None)
    for number in () if gone is None else gone.channels:
        channel = state.server.channels[number]
        if channel.connection == event.connection:
            connections.drop_requests(state, channel)


# -- the queue manager


def on_judged(state: State, signal: BatchJudged, now: Instant) -> None:
    """Answer the first request when the queue manager has taken or refused its batch."""
    channel = state.server.channels[signal.ticket]
    request = channel.requests[0]
    try:
        push.on_judged(state, channel, request, signal, now)
    except HttprFault as refused:
        responses.refuse(state, channel, request, now, refused.number, refused.why)
    serve_next(state, channel, now)


def on_reserved(state: State, signal: MessagesReserved, now: Instant) -> None:
    """Continue a batch when the queue manager has reserved messages, or has none."""
    channel = state.server.channels[signal.key[0]]
    pull.on_reserved(state, channel, signal, now)
    serve_next(state, channel, now)


def on_waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """Fill waiting PULLs from a queue that has messages again."""
    numbers = list(state.server.waiting_pulls)
    if numbers:
        pull.on_waiting(state, signal, now)
    for number in numbers:
        serve_next(state, state.server.channels[number], now)


# -- timers


def on_idle_session(state: State, number: int, now: Instant) -> None:
    """End a session that was idle for too long."""
    sessions.on_idle(state, state.server.channels[number], now)


def on_batch_wait(state: State, number: int, now: Instant) -> None:
    """Answer a PULL whose waiting time is over."""
    channel = state.server.channels[number]
    pull.close(state, channel, now)
    serve_next(state, channel, now)

"""Manages the connections of the server, 3.8.

The newest connection that carries a channel ends the older ones (HR-041).
"""

from __future__ import annotations

from reliquary.base.turn import Reply
from reliquary.protocols.httpr.batches import discard_bodies
from reliquary.protocols.httpr.codec.values import Error, ErrorNumber, ResponseHeader, SessionMark
from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.events import Answer, RequestArrived
from reliquary.protocols.httpr.reasons import reason_fields
from reliquary.protocols.httpr.server import pull, sessions
from reliquary.protocols.httpr.server.channel import Connection, ServerChannel
from reliquary.protocols.httpr.state import State


def carry(state: State, channel: ServerChannel, number: int) -> None:
    """Assign this connection to the channel; close the older one, and drop the requests that wait on it."""
    if number == channel.connection:
        return
    older = state.server.connections.get(channel.connection)
    if older is not None:
        state.draft.ask(CutConnection(channel.connection))
        for request in channel.requests:
            answer_ignored(state, request.event)
        older.channels.discard(channel.number)
    drop_requests(state, channel)
    channel.connection = number
    state.server.connections.setdefault(number, Connection()).channels.add(channel.number)


def drop_requests(state: State, channel: ServerChannel) -> None:
    """Drop all requests of a channel without an answer."""
    pull.abandon(state, channel)
    for request in channel.requests:
        if not channel.busy or request is not channel.requests[0]:
            discard_bodies(state, request.event.batch)
    channel.requests.clear()
    channel.busy = False


def answer_ignored(state: State, event: RequestArrived) -> None:
    """Answer without an outcome, because the client has abandoned this connection (HR-042)."""
    number = ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED
    why = "a later connection carries the channel"
    header = ResponseHeader(session=SessionMark.END, error=Error.of(number), product=reason_fields(why))
    state.draft.ask(Reply(event.to, Answer(header, why=why)))


def end_sessions(state: State, connection: int) -> None:
    """End the sessions on a connection on which a request could not be read.

    Requests that are pipelined behind it must not be processed without it.
    """
    carried = state.server.connections.get(connection)
    for number in () if carried is None else carried.channels:
        sessions.end(state, state.server.channels[number])

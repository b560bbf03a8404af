"""Builds the response to the first request of a channel, with the fields that every response has, 6.1."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Reply
from reliquary.protocols.httpr.batches import discard_bodies
from reliquary.protocols.httpr.codec.values import (
    NOTHING,
    SENDS,
    Error,
    ErrorNumber,
    Fields,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Answer, RequestArrived
from reliquary.protocols.httpr.reasons import reason_fields
from reliquary.protocols.httpr.server import sessions
from reliquary.protocols.httpr.server.channel import Connection, Pair, PendingRequest, ServerChannel
from reliquary.protocols.httpr.server.refusals import REFUSALS, StatedOutcome
from reliquary.protocols.httpr.settings import AGENT_TYPE
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel
from reliquary.queueing.model.message import Message


def last_outcome(row: Channel) -> Pair:
    """Return the outcome of the client's last batch; COMMIT and zeros if there is none (HR-079, HR-105).

    After a restore it also returns these until the ids of the client show whether it restarted its numbering.
    """
    if row.sink_restored:
        return Outcome.COMMIT, NOTHING
    return row.last_received_outcome, row.last_received_id


def respond(
    state: State,
    channel: ServerChannel,
    request: PendingRequest,
    now: Instant,
    *,
    pair: Pair | None,
    ending: bool = False,
    version: str = "",
    session_id: str = "",
    capabilities: Fields | None = None,
    transaction_id: int | None = None,
    last_pulled_id: int | None = None,
    batch: tuple[Message, ...] = (),
    error: Error | None = None,
    why: str = "",
) -> None:
    """Answer the first request of a channel, so that the next one may be served.

    `ending` ends the session.
    """
    assert channel.requests[0] is request, "requests are answered in their order"
    channel.requests.popleft()
    channel.busy = False
    if ending:
        sessions.end(state, channel)
    elif channel.session is not None:
        channel.session.last_used = now
    outcome, completed = pair or (None, None)
    header = ResponseHeader(
        version=version,
        responder=request.responder,
        session=SessionMark.END if ending else None,
        session_id=session_id,
        capabilities=capabilities or request.lowered,
        transaction_id=transaction_id,
        last_pulled_id=last_pulled_id,
        outcome=outcome,
        completed=completed,
        agent_type=_agent_type(state, request.event.connection),
        error=error,
        product=() if error is None else reason_fields(why),
    )
    state.draft.wait()  # the header may report facts of earlier turns (P1, P3)
    state.draft.ask(Reply(request.event.to, Answer(header, batch, why)))


def refuse(
    state: State,
    channel: ServerChannel,
    request: PendingRequest,
    now: Instant,
    number: ErrorNumber,
    why: str,
) -> None:
    """Answer the first request of a channel with an error, and take nothing of its batch."""
    refusal, error = REFUSALS[number], Error.of(number)
    channel.last_error = f"refused with {error.number} {error.text}: {why}"
    discard_bodies(state, request.event.batch)
    respond(
        state,
        channel,
        request,
        now,
        pair=_pair(refusal.said, request.header, state.channels[channel.number]),
        ending=refusal.ends_session,
        error=error,
        why=why,
    )


def refuse_unidentified(
    state: State,
    event: RequestArrived,
    number: ErrorNumber,
    why: str,
    responder: str = "",
    row: Channel | None = None,
) -> None:
    """Answer a request with an error if its channel is unknown, or must not be used by this client."""
    discard_bodies(state, event.batch)
    sends = event.header is not None and event.header.command in SENDS
    pair = _pair(REFUSALS[number].said, event.header, row if sends else None)
    outcome, completed = pair or (None, None)
    header = ResponseHeader(
        responder=responder,
        session=SessionMark.END,
        outcome=outcome,
        completed=completed,
        agent_type=_agent_type(state, event.connection),
        error=Error.of(number),
        product=reason_fields(why),
    )
    state.draft.wait()  # the outcome may be a fact of an earlier turn
    state.draft.ask(Reply(event.to, Answer(header, why=why)))


def _pair(said: StatedOutcome, header: RequestHeader | None, row: Channel | None) -> Pair | None:
    """Return the outcome that goes with an error, if one is true (HR-084, H-22)."""
    if said is StatedOutcome.NO_OUTCOME or header is None:
        return None
    if said is StatedOutcome.ROLLED_BACK and header.command in SENDS:
        batch = header.transaction_id
        if batch is None or batch == NOTHING:
            return None
        if row is None or batch > row.last_received_id:
            return Outcome.ROLLBACK, batch
        known = last_outcome(row)
        return known if known == (Outcome.ROLLBACK, batch) else None
    return None if row is None else last_outcome(row)


def _agent_type(state: State, connection: int) -> str:
    """Return our agent-type for the first response of a connection, and otherwise an empty text."""
    known = state.server.connections.get(connection)
    if known is None:
        known = state.server.connections[connection] = Connection()
    if known.introduced:
        return ""
    known.introduced = True
    return AGENT_TYPE

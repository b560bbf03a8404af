"""The answer to the request at the front of a channel's line, and what every answer has in it (A.4)."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.base.time import Instant
from reliquary.base.turn import Reply
from reliquary.protocols.httpr.codec.values import (
    NOTHING,
    SENDS,
    Carried,
    Error,
    ErrorNumber,
    Fields,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Answer, RequestArrived
from reliquary.protocols.httpr.server import sessions
from reliquary.protocols.httpr.server.channel import Asked, Connection, Pair, Served
from reliquary.protocols.httpr.server.refusals import REFUSALS, Said
from reliquary.protocols.httpr.settings import AGENT_TYPE
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.queueing.message import NO_OBJECT, Message
from reliquary.queueing.travel.transfer import BodiesUnwanted, DuplicatesDropped


def standing(channel: Channel) -> Pair:
    """What became of the client's last batch; zeros and COMMIT where there is none (HR-079, HR-105)."""
    return channel.last_received_outcome, channel.last_received_id


def respond(
    state: State,
    served: Served,
    asked: Asked,
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
    """Answer the first in the line; the next may be served.  `ending`: the answer says `session:end`."""
    assert served.line[0] is asked, "requests are answered in their order"
    served.line.popleft()
    served.at_work = False
    if ending:
        sessions.end(state, served)
    elif served.session is not None:
        served.session.used = now
    outcome, completed = pair or (None, None)
    header = ResponseHeader(
        version=version,
        responder=asked.responder,
        session=SessionMark.END if ending else None,
        session_id=session_id,
        capabilities=capabilities or asked.said,
        transaction_id=transaction_id,
        last_pulled_id=last_pulled_id,
        outcome=outcome,
        completed=completed,
        agent_type=_introduction(state, asked.event.connection),
        error=error,
    )
    state.draft.wait()  # what earlier turns stated, were this one's facts all volatile (P1, P3)
    state.draft.ask(Reply(asked.event.to, Answer(header, batch, why)))


def refuse(
    state: State, served: Served, asked: Asked, now: Instant, number: ErrorNumber, why: str
) -> None:  # fmt: skip
    """Answer the first in the line with an error; its batch is not taken."""
    refusal, error = REFUSALS[number], Error.of(number)
    served.trouble = f"refused with {error.number} {error.text}: {why}"
    unwanted(state, asked.event.batch)
    respond(
        state,
        served,
        asked,
        now,
        pair=_pair(refusal.said, asked.header, state.channels[served.channel]),
        ending=refusal.ends_session,
        error=error,
        why=why,
    )


def refuse_stranger(
    state: State,
    event: RequestArrived,
    number: ErrorNumber,
    why: str,
    responder: str = "",
    channel: Channel | None = None,
) -> None:
    """Answer a request whose channel is not known, or not to be told of."""
    unwanted(state, event.batch)
    sends = event.header is not None and event.header.command in SENDS
    pair = _pair(REFUSALS[number].said, event.header, channel if sends else None)
    outcome, completed = pair or (None, None)
    header = ResponseHeader(
        responder=responder,
        session=SessionMark.END,
        outcome=outcome,
        completed=completed,
        agent_type=_introduction(state, event.connection),
        error=Error.of(number),
    )
    state.draft.wait()  # as in `respond`: what is said of a batch may be an earlier turn's
    state.draft.ask(Reply(event.to, Answer(header, why=why)))


def unwanted(state: State, batch: Iterable[Carried]) -> None:
    """Large bodies of a batch that was not taken are given up."""
    spools = tuple([carried.stored.spool for carried in batch if carried.stored is not None])
    if spools:
        state.draft.tell(BodiesUnwanted(spools))


def _pair(said: Said, header: RequestHeader | None, channel: Channel | None) -> Pair | None:
    """The outcome that goes with an error: one that is true (HR-084, H-22)."""
    if said is Said.NOTHING_SAID or header is None:
        return None
    if said is Said.ROLLED_BACK and header.command in SENDS:
        batch = header.transaction_id
        if batch is None or batch == NOTHING:
            return None
        if channel is None or batch > channel.last_received_id:
            return Outcome.ROLLBACK, batch
        known = standing(channel)
        return known if known == (Outcome.ROLLBACK, batch) else None
    return None if channel is None else standing(channel)


def _introduction(state: State, connection: int) -> str:
    """Our agent-type, in the first response of a connection (HR-101)."""
    known = state.connections.get(connection)
    if known is None:
        known = state.connections[connection] = Connection()
    if known.introduced:
        return ""
    known.introduced = True
    return AGENT_TYPE


def tell_duplicates(state: State, channel: int, batch: int, count: int) -> None:
    """A batch came once more: its messages are not read again, so only its id says which they are."""
    record = state.channels[channel]
    peer = record.requester if record.role is Role.SERVER else record.responder
    nameless = (NO_OBJECT,) * count
    state.draft.tell(DuplicatesDropped(HOLDER, "", nameless, peer=peer, batch=f"{channel}:{batch}"))

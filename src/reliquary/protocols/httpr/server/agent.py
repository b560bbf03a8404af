"""The server agent: requests of others, D.1 of the digest in its order, each by its command.

    RequestArrived --> whose is it? --> the channel's line --> first in it --> its command --> Answer
                            |                  |                    |
                     519, 520, 530,     older connections     523, 524, 528, a fault
                     528, 511, 512, 510   end (3.8)           of the reader

The requests of a channel are served one after the other, in the order they came (HR-046): a PULL that waits
holds back those behind it.  One that comes on a newer connection drops whatever waits on the older one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Reply
from reliquary.protocols.httpr.addresses import own_agent
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import (
    FETCHES,
    FLOWS,
    VERSION,
    Command,
    Error,
    ErrorNumber,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.events import (
    Answer,
    ConnectionGone,
    ForgetChannel,
    RequestArrived,
    RequestBegun,
)
from reliquary.protocols.httpr.facts import ChannelOpened
from reliquary.protocols.httpr.routing import is_known, responder_of
from reliquary.protocols.httpr.server import pull, push, report, responses, sessions
from reliquary.protocols.httpr.server.channel import Asked, Connection, Served
from reliquary.protocols.httpr.server.pull import BATCH_WAIT
from reliquary.protocols.httpr.server.sessions import IDLE_SESSION, limits_of
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.protocols.httpr.transactions import By
from reliquary.queueing.security.principals import ANONYMOUS, Principal
from reliquary.queueing.travel.transfer import BatchJudged, MessagesHeld, MessagesWaiting

__all__ = ["BATCH_WAIT", "IDLE_SESSION", "limits_of"]


# -- what comes


def on_request_begun(state: State, event: RequestBegun, now: Instant) -> None:
    """The header is here: older connections of its channel end."""
    del now
    number = _channel_of(state, event.service, event.header)
    served = None if number is None else state.served.get(number)
    if served is None or not _may_use(state.channels[served.channel], event.by):
        return
    if event.connection < served.connection:
        state.draft.ask(CutConnection(event.connection))
    else:
        _carry(state, served, event.connection)


def on_request(state: State, event: RequestArrived, now: Instant) -> None:
    """A request is whole."""
    if event.header is None:
        _end_sessions(state, event.connection)
        responses.refuse_stranger(state, event, event.fault or ErrorNumber.NOT_HTTP_R, event.why)
        return
    try:
        served, asked = _identified(state, event, event.header, now)
    except HttprFault as fault:
        if fault.number is ErrorNumber.HTTP_R_VERSION_NOT_SUPPORTED:
            _end_sessions(state, event.connection)
        known = _find(state, event.service, event.header)
        responses.refuse_stranger(state, event, fault.number, fault.why, _name(state, event), known)
        return
    if event.connection < served.connection:
        state.draft.ask(CutConnection(event.connection))
        responses.unwanted(state, event.batch)
        _ignore(state, event)
        return
    _carry(state, served, event.connection)
    if len(served.line) >= asked.agreed.maximum_pipeline_depth:
        asked.fault, asked.why = ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED, "too many requests"  # HR-045
    served.line.append(asked)
    pull.make_way(state, served, now)
    _go_on(state, served, now)


def on_connection_gone(state: State, event: ConnectionGone, now: Instant) -> None:
    """Nobody waits there any more; that connection is remembered, so that none before it is heard."""
    del now
    gone = state.connections.pop(event.connection, None)
    for number in () if gone is None else gone.channels:
        served = state.served[number]
        if served.connection == event.connection:
            _drop_line(state, served)


def on_judged(state: State, signal: BatchJudged, now: Instant) -> None:
    """The manager has taken a batch, or not."""
    served = state.served[signal.ticket]
    asked = served.line[0]
    try:
        push.judged(state, served, asked, signal)
        _taken(state, served, asked, now)
    except HttprFault as fault:
        responses.refuse(state, served, asked, now, fault.number, fault.why)
    _go_on(state, served, now)


def on_held(state: State, signal: MessagesHeld, now: Instant) -> None:
    """The manager has given messages for a batch of ours, or has none."""
    served = state.served[signal.key[0]]
    pull.held(state, served, signal, now)
    _go_on(state, served, now)


def on_waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """Messages wait that somebody may have asked for."""
    waiting = list(state.fetching)
    if waiting:
        pull.waiting(state, signal, now)
    for number in waiting:
        _go_on(state, state.served[number], now)


def on_idle_session(state: State, channel: int, now: Instant) -> None:
    """A session was idle for long enough."""
    sessions.on_idle(state, state.served[channel], now)


def on_batch_wait(state: State, channel: int, now: Instant) -> None:
    """A PULL has waited long enough."""
    served = state.served[channel]
    pull.close(state, served, now)
    _go_on(state, served, now)


def on_forget_wanted(state: State, event: ForgetChannel, now: Instant) -> None:
    """An administrator forgets a channel: its session is closed with 516, unless something is in doubt."""
    channel, served = state.channels.get(event.channel), state.served.get(event.channel)
    fetched = None if served is None else served.collecting
    if channel is None or {*channel.in_doubt} - {0 if fetched is None else fetched.batch}:
        return
    if served is not None:
        pull.abandon(state, served)
        for asked in list(served.line):
            why = "an administrator forgets the channel"
            responses.refuse(state, served, asked, now, ErrorNumber.ADMINISTRATOR_CLOSED, why)
        sessions.end(state, served)
    if channel.owner or channel.pulled:  # it is anybody's, and its agent is dialled until it comes again
        apply(state, ChannelOpened(replace(state.channels[channel.number], owner="", pulled=False)))


# -- whose it is


def _identified(
    state: State, event: RequestArrived, header: RequestHeader, now: Instant
) -> tuple[Served, Asked]:
    """The channel of a request, opened if it is new, and what is in force for it; or a refusal."""
    if header.version != VERSION:
        raise _fault(ErrorNumber.HTTP_R_VERSION_NOT_SUPPORTED, header.version)
    if header.session_id:
        number = state.sessions.get(header.session_id)
        served = None if number is None else state.served[number]
        session = None if served is None else served.session
        if served is None or session is None or session.by is not event.by or served.service != event.service:
            if served is not None and served.connection == event.connection:
                sessions.end(state, served)  # what is pipelined behind it must not be taken without it
            raise _fault(ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED, header.session_id)
        asked = Asked(event, header, now, session.agreed, session, fault=event.fault, why=event.why)
        return served, asked
    responder, channel = _channel(state, event, header)
    agreed, said = sessions.sessionless(header.capabilities, state.settings.offered, header.command)
    channel = _owned(state, event, channel or _new(state, event.service, header))
    served = state.served.get(channel.number)
    if served is None:
        served = state.served[channel.number] = Served(channel.number, event.service)
    asked = Asked(event, header, now, agreed, None, responder, said, event.fault, event.why)
    return served, asked


def _channel(
    state: State, event: RequestArrived, header: RequestHeader
) -> tuple[str, Channel | None]:  # fmt: skip
    """What the answer calls us, and the channel that a request without a session names, if it is known."""
    settings = state.settings
    if not state.origin:
        raise _fault(ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE, "we do not know our own address yet")
    if not header.requester or not header.channel:
        why = "neither a session nor requester and channel"
        raise _fault(ErrorNumber.HTTP_R_PROTOCOL_ERROR, why)  # HR-061
    if not is_known(settings, event.service):
        raise _fault(ErrorNumber.RESPONDER_INVALID, f"there is no service {event.service}")
    responder = responder_of(state, event.service, header.responder)
    channel = _find(state, event.service, header)
    if channel is None and not settings.open_channels and header.channel not in settings.channels:
        raise _fault(ErrorNumber.CHANNEL_INVALID, header.channel)  # HR-011
    return responder, channel


def _find(state: State, service: str, header: RequestHeader) -> Channel | None:
    """We have one name for each service, so that a request that names none is of the same channel."""
    return state.find(Role.SERVER, header.requester, header.channel, own_agent(state.origin, service))


def _new(state: State, service: str, header: RequestHeader) -> Channel:
    number, responder = state.numbers.channel + 1, own_agent(state.origin, service)
    return Channel(number, Role.SERVER, header.requester, header.channel, responder)


def _owned(state: State, event: RequestArrived, channel: Channel) -> Channel:
    """Whoever uses a channel could make messages of its owner vanish: only he may (525).

    A channel that was used by somebody who did not say who he is belongs to the first who does.
    """
    if not _may_use(channel, event.by):
        raise _fault(ErrorNumber.AGENT_SECURITY, f"the channel belongs to {channel.owner}, not to {event.by}")
    user = _user(event.by)
    if user != channel.owner or channel.number not in state.channels:
        apply(state, ChannelOpened(replace(channel, owner=user)))
    return state.channels[channel.number]


def _may_use(channel: Channel, by: Principal) -> bool:
    return not channel.owner or channel.owner == _user(by)


def _user(by: Principal) -> str:
    return "" if by is ANONYMOUS else str(by.user)


def _channel_of(state: State, service: str, header: RequestHeader) -> int | None:
    """The channel of a request, if it is known."""
    if header.session_id:
        return state.sessions.get(header.session_id)
    channel = _find(state, service, header)
    return None if channel is None else channel.number


def _name(state: State, event: RequestArrived) -> str:
    """What the answer to a stranger calls us (HR-035)."""
    if not state.origin or event.header is None or event.header.session_id:
        return ""
    known = is_known(state.settings, event.service)
    return own_agent(state.origin, event.service if known else state.settings.manager_service)


def _end_sessions(state: State, connection: int) -> None:
    """A request was not understood: what is pipelined behind it must not be taken without it."""
    carried = state.connections.get(connection)
    for number in () if carried is None else carried.channels:
        sessions.end(state, state.served[number])


# -- connections, 3.8


def _carry(state: State, served: Served, number: int) -> None:
    """From now on this connection carries the channel; older ones end, with what waits there (HR-041)."""
    if number == served.connection:
        return
    older = state.connections.get(served.connection)
    if older is not None:
        state.draft.ask(CutConnection(served.connection))
        for asked in served.line:
            _ignore(state, asked.event)
        older.channels.discard(served.channel)
    _drop_line(state, served)
    served.connection = number
    state.connections.setdefault(number, Connection()).channels.add(served.channel)


def _drop_line(state: State, served: Served) -> None:
    pull.abandon(state, served)
    for asked in served.line:
        if not served.at_work or asked is not served.line[0]:
            responses.unwanted(state, asked.event.batch)
    served.line.clear()
    served.at_work = False


def _ignore(state: State, event: RequestArrived) -> None:
    """An answer that says nothing of the batch: its client has given this connection up (HR-042)."""
    number = ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED
    header = ResponseHeader(session=SessionMark.END, error=Error.of(number))
    state.draft.ask(Reply(event.to, Answer(header, why="a later connection carries the channel")))


# -- the line


def _go_on(state: State, served: Served, now: Instant) -> None:
    """Serve the next, until one waits for something."""
    while served.line and not served.at_work:
        served.at_work = True
        asked = served.line[0]
        try:
            _serve(state, served, asked, now)
        except HttprFault as fault:
            responses.refuse(state, served, asked, now, fault.number, fault.why)


def _serve(state: State, served: Served, asked: Asked, now: Instant) -> None:
    """D.1, from the fourth step on: what held when the request came may not hold any more."""
    header, session = asked.header, asked.session
    if session is not served.session:
        if session is not None:  # an answer ahead of it has ended the session
            raise _fault(ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED, session.identifier)
        sessions.end(state, served)  # HR-014: who speaks without a session has none any more
    if asked.fault is not None:
        raise _fault(asked.fault, asked.why)
    if header.command in FLOWS:
        if header.command not in asked.agreed.flows:
            raise _fault(ErrorNumber.INVALID_FLOW, header.command.value)
        _settle(state, served, asked)
    if header.command in FETCHES:
        # after the pair was heard: what it settles is in doubt no longer (F-05)
        in_doubt = len(state.channels[served.channel].in_doubt)
        if in_doubt >= asked.agreed.maximum_pipeline_depth:
            why = f"{in_doubt} batches are in doubt"
            raise _fault(ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED, why)
    _COMMANDS[header.command](state, served, asked, now)


def _settle(state: State, served: Served, asked: Asked) -> None:
    """Hear what became of what the client fetched.

    If it rolled a batch back, or is unsure of it, it takes none of those behind it (HR-077): its session ends
    where there may be such, and it gets no further batch now (HR-071, H-08).
    """
    settled = report.settle(state, served.channel, asked.header, By.RESPONSE)
    in_doubt = asked.header.outcome is Outcome.INDOUBT
    asked.unsettled = in_doubt or (asked.pipelined and bool(settled.returned))


def _inform(state: State, served: Served, asked: Asked, now: Instant) -> None:
    """GET-RESPONDER-INFO, D.2."""
    channel, header = served.channel, asked.header
    report.settle(state, channel, header, By.INFO_REQUEST)
    pair = responses.standing(state.channels[channel])  # HR-066
    if not state.settings.offered.sessions:
        said = sessions.SESSIONLESS_ONLY
        responses.respond(
            state, served, asked, now, pair=pair, ending=True, version=VERSION, capabilities=said
        )  # fmt: skip
        return
    session, less = sessions.begin(state, served, header.capabilities, asked.event.by, now)
    responses.respond(
        state,
        served,
        asked,
        now,
        pair=pair,
        version=VERSION,
        session_id=session.identifier,
        capabilities=less,
    )


def _push(state: State, served: Served, asked: Asked, now: Instant) -> None:
    if push.receive(state, served, asked, now):
        _taken(state, served, asked, now)


def _taken(state: State, served: Served, asked: Asked, now: Instant) -> None:
    """The request's batch is in our queues; of EXCHANGE, the other one is to be collected."""
    batch = asked.header.transaction_id
    assert batch is not None, "what was taken has an id"
    pair = (Outcome.COMMIT, batch)
    if asked.header.command is Command.EXCHANGE and not asked.unsettled:
        pull.collect(state, served, asked, pair, now)
    else:
        responses.respond(state, served, asked, now, pair=pair, ending=asked.unsettled)


def _pull(state: State, served: Served, asked: Asked, now: Instant) -> None:
    pair = pull.told_of_pushes(state, served, asked)
    if asked.unsettled:
        responses.respond(state, served, asked, now, pair=pair, ending=True)
    else:
        pull.collect(state, served, asked, pair, now)


_COMMANDS: Final[dict[Command, Callable[[State, Served, Asked, Instant], None]]] = {
    Command.GET_RESPONDER_INFO: _inform,
    Command.PUSH: _push,
    Command.PULL: _pull,
    Command.EXCHANGE: _push,
    Command.REPORT: report.report,
}
COMMANDS: Final = tuple(_COMMANDS)


def _fault(number: ErrorNumber, why: str) -> HttprFault:
    return HttprFault(number, why, spec="5.6")

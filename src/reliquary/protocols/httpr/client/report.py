"""What is in doubt is found out, D.2 and D.6 of the digest: GET-RESPONDER-INFO, REPORT, and what they settle.

    new epoch --> GET-RESPONDER-INFO --> settles what it names       a session, capabilities
              '-> REPORT --------------> settles all the rest        last-sent-id
                                    '--> forget: both sides begin anew, and the session ends

Only REPORT gives messages back that were not named: it tells the server the last id that was used, so what
comes late is refused there (F-02).
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Reply, Warn
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import Asked, Driven
from reliquary.protocols.httpr.client.failures import answer_all, end, react, rest, tell_links
from reliquary.protocols.httpr.client.phases import Move
from reliquary.protocols.httpr.client.requests import ask
from reliquary.protocols.httpr.codec.capabilities import agreed, granted
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import (
    NOTHING,
    Capabilities,
    Command,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Done, ResponseArrived
from reliquary.protocols.httpr.facts import PeerReported, Side, SideForgotten
from reliquary.protocols.httpr.server.report import conclude
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.tables import Channel
from reliquary.protocols.httpr.transactions import By, Settlement, settlement
from reliquary.queueing.travel import transfer
from reliquary.queueing.travel.link import ConnectionStatus, Happening
from reliquary.queueing.travel.transfer import HoldsEnded

DEFAULTS: Final = Capabilities()


# -- a new connection


def open_channel(state: State, driven: Driven, now: Instant) -> None:
    """Begin a new epoch: with GET-RESPONDER-INFO, or without a session."""
    if not driven.url:
        name = state.channels[driven.channel].responder
        rest(state, driven, f"{name} has no host, and no peer says where it is", long=True,
             status=ConnectionStatus.DNS_FAILURE)  # fmt: skip
        return
    driven.epoch += 1
    driven.numbered = 0
    driven.connected = True
    driven.proposed = proposal(state.settings, driven.peer)
    driven.agreed = granted(driven.proposed, DEFAULTS)  # HR-038, HR-039, HR-040
    if driven.proposed.sessions:
        driven.move(Move.GREET)
        ask(state, driven, Command.GET_RESPONDER_INFO, now, session=SessionMark.BEGIN)  # HR-036
    else:
        go_on(state, driven)


def proposal(settings: HttprSettings, peer: Peer) -> Capabilities:
    """What we ask a peer for."""
    wanted = settings.proposed
    if not peer.sessions or not wanted.sessions:
        wanted = replace(wanted, sessions=False, sessionless=True, maximum_pipeline_depth=1)
    if peer.pull and (peer.exchange or peer.channel):  # a response that waits delays what goes behind it
        wanted = replace(
            wanted,
            empty_batch_delay=min(wanted.empty_batch_delay, DEFAULTS.max_wait_batch),
            max_wait_batch=min(wanted.max_wait_batch, DEFAULTS.max_wait_batch),
        )
    return wanted


def must_report(state: State, driven: Driven) -> bool:
    """Whether something is not known that only REPORT can tell."""
    return driven.unresolved or bool(state.channels[driven.channel].in_doubt)


def go_on(state: State, driven: Driven) -> None:
    """All is answered: ready, or something is to be found out first."""
    driven.move(Move.UNRESOLVED if must_report(state, driven) else Move.CLEAN)


def on_greeted(state: State, driven: Driven, asked: Asked, event: ResponseArrived, now: Instant) -> None:
    """The answer to GET-RESPONDER-INFO: a session, or the word that there are none (H-05)."""
    header = event.header
    if header.error is not None:
        react(state, driven, asked, header.error, now)
        return
    try:
        driven.agreed = agreed(driven.proposed, header.capabilities)
    except HttprFault as wrong:
        rest(state, driven, str(wrong), long=True)
        return
    settle(state, driven, header, By.INFO_ANSWER)
    if header.session is SessionMark.END:
        if driven.agreed.sessions:
            rest(state, driven, f"{driven.url} ended the session before it began")
            return
        # HR-034, HR-062: one request after another from now on, within the defaults until one is answered
        driven.proposed = replace(driven.proposed, sessions=False, sessionless=True, maximum_pipeline_depth=1)
        driven.agreed = granted(driven.agreed, DEFAULTS)
    elif not header.session_id:
        rest(state, driven, f"{driven.url} gave no session", long=True)
        return
    driven.session_id = header.session_id
    _warn_of_flows(state, driven)
    go_on(state, driven)


def _warn_of_flows(state: State, driven: Driven) -> None:
    """Say what can never go over this channel; all else does."""
    exchanges = driven.peer.exchange and Command.EXCHANGE in driven.agreed.flows
    wanted = {Command.PULL} if driven.fetches else set()
    if driven.queues and not exchanges:
        wanted.add(Command.PUSH)
    missing = sorted(flow.value for flow in wanted - driven.agreed.flows)
    if missing:
        responder = state.channels[driven.channel].responder
        state.draft.ask(
            Warn(responder, "a flow is not to be had", f"it allows no {' and no '.join(missing)}")
        )


# -- what became of our batches


def settle(state: State, driven: Driven, header: ResponseHeader, by: By) -> Settlement:
    """The pair of a response: messages leave, are there again, or stay in doubt."""
    channel = state.channels[driven.channel]
    if header.outcome is None or header.completed is None:
        return Settlement()
    if header.completed > channel.last_source_id:
        driven.floor = max(driven.floor, header.completed)
        # It took an id that we never used, so our memory of this channel is lost; and as it takes only higher
        # ones, it has none of those that are in doubt now.
        settled = Settlement(returned=channel.in_doubt)
    else:
        settled = settlement(channel.in_doubt, header.completed, header.outcome, by)
    for batch in settled.committed + settled.returned:
        reason = driven.suspects.pop(batch, None)
        if reason is not None and batch in settled.returned:  # it was alone, and goes no more
            key = driven.channel, batch
            state.draft.tell(HoldsEnded(HOLDER, (key,), transfer.Outcome.REFUSED, reason))
    conclude(state, driven.channel, settled)  # P7
    return settled


# -- REPORT


def report(state: State, driven: Driven, now: Instant) -> None:
    """Ask what became of our batches, and say what became of the peer's (HR-074, HR-125)."""
    driven.move(Move.REPORT)
    ask(state, driven, Command.REPORT, now)


def on_reported(state: State, driven: Driven, asked: Asked, event: ResponseArrived, now: Instant) -> None:
    """All is known then; but for a peer that is not sure itself, who is asked again (T19)."""
    header = event.header
    if header.error is not None:
        react(state, driven, asked, header.error, now)
        return
    if header.outcome is None or header.completed is None:
        rest(state, driven, f"{driven.url} answered REPORT without an outcome")
        return
    settle(state, driven, header, By.REPORT)
    _hear_last(state, driven, header.last_pulled_id)
    if state.channels[driven.channel].in_doubt:
        rest(state, driven, f"{driven.url} is not sure about batch {header.completed} itself")  # HR-078
        return
    driven.unresolved = False
    for caller in driven.reporters:
        state.draft.ask(Reply(caller, Done(True)))
    driven.reporters.clear()
    if header.session is SessionMark.END:
        end(state, driven)
    else:
        go_on(state, driven)


def _hear_last(state: State, driven: Driven, last: int | None) -> None:
    """P8: what the peer sends from now on has a higher id; zeros: it knows nothing of us any more (H-30)."""
    channel = state.channels[driven.channel]
    if last == NOTHING:
        if knows_sink(channel):
            apply(state, SideForgotten(driven.channel, Side.SINK))
        driven.told = NOTHING
    elif last is not None and last > channel.last_sent_id:
        apply(state, PeerReported(driven.channel, last))


def knows_sink(channel: Channel) -> bool:
    """Whether there is anything to forget about what the peer sent."""
    received = channel.last_received_id or channel.last_sent_id
    return bool(received) or channel.last_received_outcome is not Outcome.COMMIT


def knows_source(channel: Channel) -> bool:
    """Whether the peer has anything to forget about what we sent."""
    return channel.last_source_id != NOTHING and not channel.source_forgotten


# -- forget, and close


def leave(state: State, driven: Driven, now: Instant) -> None:
    """Nothing is in doubt: the peer may forget what we sent, and the session ends (HR-016, HR-032)."""
    channel = state.channels[driven.channel]
    assert not channel.in_doubt, f"batches {channel.in_doubt} are in doubt and would be forgotten"
    driven.move(Move.LEAVE)
    ask(
        state,
        driven,
        Command.REPORT,
        now,
        session=SessionMark.END if driven.session_id else None,
        forget=channel.last_source_id if knows_source(channel) else None,
    )


def on_left(state: State, driven: Driven, asked: Asked, event: ResponseArrived, now: Instant) -> None:
    """P10: an answer without an error lets us forget as well (HR-075)."""
    header = event.header
    if header.error is not None:
        react(state, driven, asked, header.error, now)
        return
    _hear_last(state, driven, header.last_pulled_id)
    if knows_source(state.channels[driven.channel]):
        apply(state, SideForgotten(driven.channel, Side.SOURCE))
    driven.leaving, driven.failures = False, 0
    answer_all(state, driven, Done(True))
    end(state, driven)
    if driven.linked:
        driven.linked = False
        tell_links(state, driven, Happening.DISCONNECTED, ConnectionStatus.CONNECTION_NOT_READY)

"""The client agent: channels of our own, B.3 and B.5 of the digest.

    messages wait, a peer is to be asked, something is in doubt
       |
       v            phases         asking        the network        outcomes, resolving
    `_drive` --> what is next --> SendRequest --> response -------> facts, and `_drive` again
                                             '--> none -----------> troubles

`_drive` is called after all that happens to a channel; what a channel does next follows from its phase, its
row and what waits, and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, Reply, SetTimer
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import Asked, Driven
from reliquary.protocols.httpr.client.channels import (
    IDLE,
    drive_known,
    driven_for,
    driven_for_queue,
    fetching_channel,
    tell_connected,
)
from reliquary.protocols.httpr.client.failures import RETRY, end, is_fetcher, on_lost, rest, tell_links
from reliquary.protocols.httpr.client.flow_responses import on_answered
from reliquary.protocols.httpr.client.phases import SILENT, Phase
from reliquary.protocols.httpr.client.pull import on_judged as on_batch_judged
from reliquary.protocols.httpr.client.pull import owes_word, pull
from reliquary.protocols.httpr.client.push import may_send, prepare
from reliquary.protocols.httpr.client.push import on_held as on_batch_held
from reliquary.protocols.httpr.client.report import (
    go_on,
    knows_sink,
    knows_source,
    leave,
    must_report,
    on_greeted,
    on_left,
    on_reported,
    open_channel,
    report,
)
from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.events import (
    Done,
    ForgetChannel,
    ReportChannel,
    RequestFailed,
    ResponseArrived,
)
from reliquary.protocols.httpr.facts import Side, SideForgotten
from reliquary.protocols.httpr.server.responses import unwanted
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.queueing.travel.link import ConnectionStatus, Happening
from reliquary.queueing.travel.transfer import (
    BatchJudged,
    ConnectionWanted,
    ManagerOnline,
    MessagesHeld,
    MessagesWaiting,
    QueueResumed,
    Wrapper,
)

_Answered = Callable[[State, Driven, Asked, ResponseArrived, Instant], None]


# -- what is next


def _drive(state: State, driven: Driven, now: Instant) -> None:
    """Do what is next on this channel, until there is nothing, or an answer to wait for."""
    if driven.fetched is not None or driven.preparing:
        return  # the manager answers in this turn
    if driven.phase is Phase.READY and driven.is_stale(now):
        end(state, driven)
    if driven.phase is Phase.CLOSED and _has_work(state, driven):
        open_channel(state, driven, now)
    if driven.phase is Phase.MUST_REPORT:
        report(state, driven, now)
    elif driven.phase not in SILENT and driven.phase is not Phase.CLOSED:
        _flow(state, driven, now)


def _has_work(state: State, driven: Driven) -> bool:
    asked_for = driven.leaving or bool(driven.reporters)
    moves = may_send(state, driven) or (driven.fetches and state.online and not driven.fetch_rests)
    return asked_for or moves or must_report(state, driven) or owes_word(state, driven)


def _flow(state: State, driven: Driven, now: Instant) -> None:
    """Send what may be sent; administrators come before it, and what nobody else tells comes last."""
    if driven.reporters or driven.leaving:
        if driven.phase is Phase.READY:
            (report if driven.reporters else leave)(state, driven, now)
        return
    while len(driven.asked) < driven.depth and _step(state, driven, now):
        if driven.preparing:
            return
    if driven.phase is Phase.READY and owes_word(state, driven):
        report(state, driven, now)  # HR-074: nothing else is to be sent or fetched


def _step(state: State, driven: Driven, now: Instant) -> bool:
    """One more request, or the wish for a batch; whoever brought something last, fetches next."""
    if driven.sent_last:
        return pull(state, driven, now) or prepare(state, driven)
    return prepare(state, driven) or pull(state, driven, now)


# -- the queue manager


def on_addressed(state: State, now: Instant) -> None:
    """We have a name: channels with something in doubt are resolved, peers that we fetch from are asked."""
    for channel in list(state.channels.values()):
        if channel.role is Role.CLIENT:
            drive_known(state, channel, now)
    for peer in state.settings.peers:
        if peer.pull:
            driven_for(state, peer.responder, fetching_channel(peer), now)
    for driven in list(state.driven.values()):
        _drive(state, driven, now)
    for queue, destination in list(state.waiting.items()):
        _bring(state, queue, destination, now)


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Messages wait for an agent for the first time."""
    if signal.wrapper is not Wrapper.HTTPR:
        return
    state.waiting[signal.queue] = signal.destination
    if state.origin:
        _bring(state, signal.queue, signal.destination, now)


def _bring(state: State, queue: int, destination: str, now: Instant) -> None:
    """A queue wants a connection: it is told when there is one, or that somebody comes for its messages."""
    driven = _wake(state, queue, destination, now)
    if is_fetcher(state, state.channels[driven.channel].responder):
        tell_connected(state, queue)
    elif driven.linked:
        tell_connected(state, queue, driven.url)


def on_waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """More messages wait."""
    if signal.destination and state.origin:
        _wake(state, signal.queue, signal.destination, now)


def _wake(state: State, queue: int, destination: str, now: Instant) -> Driven:
    """A queue has messages."""
    driven = driven_for_queue(state, queue, destination, now)
    driven.ready.setdefault(queue, None)
    driven.leaving = bool(driven.forgetters)
    _drive(state, driven, now)
    return driven


def on_held(state: State, signal: MessagesHeld, now: Instant) -> None:
    """The manager has given messages for a batch, or has none."""
    driven = state.driven[signal.key[0]]
    on_batch_held(state, driven, signal, now)
    _drive(state, driven, now)


def on_judged(state: State, signal: BatchJudged, now: Instant) -> None:
    """The manager has taken a batch that we fetched, or not."""
    driven = state.driven[signal.ticket]
    on_batch_judged(state, driven, signal)
    _drive(state, driven, now)


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """The manager may send, or may not; what is in doubt is found out in any case."""
    state.online = signal.online
    if state.online:
        for queue, destination in list(state.waiting.items()):
            _wake(state, queue, destination, now)
    for driven in list(state.driven.values()):
        _drive(state, driven, now)


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """An outgoing queue may send again."""
    destination = state.waiting.get(signal.queue)
    if destination:
        _wake(state, signal.queue, destination, now)


# -- the network


def on_response(state: State, event: ResponseArrived, now: Instant) -> None:
    """A response is whole; those of older connections are not heard (HR-042, HR-043)."""
    driven = state.driven.get(event.channel)
    if driven is None or event.epoch != driven.epoch or not driven.connected:
        unwanted(state, event.batch)
        return
    asked = driven.asked.popleft()
    assert asked.number == event.number, f"response {event.number} came before {asked.number}"  # HR-047
    driven.used = now
    channel, named = state.channels[driven.channel], event.header.responder
    if named and named != channel.responder:  # HR-089: it may be anybody's word
        unwanted(state, event.batch)
        driven.asked.appendleft(asked)
        rest(state, driven, f"{driven.url} is {named}, not {channel.responder}", long=True)
        return
    if not driven.linked:
        driven.linked = True
        tell_links(state, driven, Happening.CONNECTED, ConnectionStatus.ESTABLISHED)
    answered = on_left if driven.phase is Phase.LEAVING else _ANSWERED[asked.command]
    answered(state, driven, asked, event, now)
    _drive(state, driven, now)


_ANSWERED: Final[dict[Command, _Answered]] = {
    Command.GET_RESPONDER_INFO: on_greeted,
    Command.REPORT: on_reported,
    Command.PUSH: on_answered,
    Command.PULL: on_answered,
    Command.EXCHANGE: on_answered,
}


def on_failed(state: State, event: RequestFailed, now: Instant) -> None:
    """Responses will not come: what was asked is in doubt."""
    driven = state.driven.get(event.channel)
    if driven is not None and event.epoch == driven.epoch and driven.connected:
        on_lost(state, driven, event)
        _drive(state, driven, now)


# -- time


def on_retry(state: State, channel: int, now: Instant) -> None:
    """A channel has rested."""
    driven = state.driven[channel]
    if driven.phase is Phase.RESTING:
        if driven.connected:
            go_on(state, driven)
        else:
            end(state, driven)
        _drive(state, driven, now)


def on_fetch(state: State, channel: int, now: Instant) -> None:
    """Messages may be fetched again."""
    driven = state.driven[channel]
    driven.fetch_rests = False
    _drive(state, driven, now)


def on_idle(state: State, number: int, now: Instant) -> None:
    """A channel was idle for long enough to be forgotten on both sides, unless it was used meanwhile."""
    driven, channel, span = state.driven[number], state.channels[number], state.settings.forget_after
    left = span - max(now - driven.used, 0)
    if left <= 0 and driven.phase in (Phase.CLOSED, Phase.READY) and not channel.in_doubt:
        driven.leaving = bool(driven.session_id) or knows_source(channel) or knows_sink(channel)
        _drive(state, driven, now)
    state.draft.ask(SetTimer((IDLE, number), Duration(left if left > 0 else span)))


# -- administrators


def on_report_wanted(state: State, event: ReportChannel, now: Instant) -> None:
    """An administrator wants to know."""
    driven = _ours(state, event.channel, event.to, "send a REPORT over it", now)
    if driven is not None:
        driven.reporters.append(event.to)
        _hurry(state, driven, now)


def on_forget_wanted(state: State, event: ForgetChannel, now: Instant) -> None:
    """An administrator wants to forget; what is in doubt cannot be."""
    channel = state.channels.get(event.channel)
    if channel is not None and channel.in_doubt:
        batches = ", ".join(map(str, channel.in_doubt))
        why = f"channel {channel.number} cannot be forgotten while it is in doubt about {batches}"
        state.draft.ask(Reply(event.to, Done(False, why)))
    elif channel is not None and channel.role is Role.SERVER:
        _forget_served(state, channel)
        state.draft.ask(Reply(event.to, Done(True)))
        for each in list(state.driven.values()):  # what its agent fetched so far is ours to bring
            _drive(state, each, now)
    else:
        driven = _ours(state, event.channel, event.to, "forget it", now)
        if driven is not None:
            driven.forgetters.append(event.to)
            driven.leaving = True
            _hurry(state, driven, now)


def _forget_served(state: State, channel: Channel) -> None:
    """Our own side of a channel that another agent drives."""
    if knows_source(channel):
        apply(state, SideForgotten(channel.number, Side.SOURCE))
    if knows_sink(channel):
        apply(state, SideForgotten(channel.number, Side.SINK))


def _ours(state: State, number: int, to: int, what: str, now: Instant) -> Driven | None:
    """The channel, where it is one that we drive; else its administrator is told."""
    channel = state.channels.get(number)
    if channel is None:
        why = f"there is no channel {number}"
    elif channel.role is not Role.CLIENT:
        why = f"channel {number} is driven by {channel.requester}; only that agent can {what}"
    elif not state.origin:
        why = "HTTPR has no name yet; the server does not listen"
    else:
        return drive_known(state, channel, now)
    state.draft.ask(Reply(to, Done(False, why)))
    return None


def _hurry(state: State, driven: Driven, now: Instant) -> None:
    """Somebody waits: a rest is over, and a PULL that waits is given up."""
    if driven.phase is Phase.RESTING:
        state.draft.ask(CancelTimer((RETRY, driven.channel)))
        end(state, driven)
    elif driven.asked and all(asked.command is Command.PULL for asked in driven.asked):
        end(state, driven)
    _drive(state, driven, now)

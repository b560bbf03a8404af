"""When something goes wrong on a channel that we drive: a new session, a rest, or somebody is told.

What was sent and has no response stays in doubt, whatever happens; the next that is sent is a REPORT.
"""

from __future__ import annotations

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import Reply, SetTimer, Warn
from reliquary.protocols.httpr.addresses import agent_of
from reliquary.protocols.httpr.client.channel import Asked, Driven, Hunt
from reliquary.protocols.httpr.client.phases import Move
from reliquary.protocols.httpr.client.reactions import FAILED_WITH, NACKS, UNSENT, Reaction, reaction_to
from reliquary.protocols.httpr.codec.values import Error, ErrorNumber
from reliquary.protocols.httpr.effects import HangUp
from reliquary.protocols.httpr.events import Done, Failure, RequestFailed
from reliquary.protocols.httpr.server.report import conclude
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.travel.link import ConnectionStatus, Happening
from reliquary.queueing.travel.transfer import ConnectionChanged

RETRY = "httpr-retry"
"""The timer of a channel that rests."""


# -- the end of a connection


def hang_up(state: State, driven: Driven) -> None:
    """Nothing that is still to come on this connection is heard (HR-042, HR-043)."""
    if driven.connected:
        state.draft.ask(HangUp(driven.channel, driven.epoch))
    driven.connected = False
    driven.session_id = ""
    # what was to bring messages may have left the peer in doubt (HR-022); PUSH is in doubt in the row
    driven.unresolved = driven.unresolved or any(each.fetches for each in driven.asked)
    driven.asked.clear()


def end(state: State, driven: Driven) -> None:
    """The session is over; a new one begins where there is something to do."""
    hang_up(state, driven)
    driven.move(Move.END)


def rest(
    state: State,
    driven: Driven,
    why: str,
    *,
    status: ConnectionStatus = ConnectionStatus.CONNECTION_REFUSED,
    long: bool = False,
    keep: bool = False,
) -> None:
    """Try again after a while, longer each time; `keep`: in the same session."""
    if not keep:
        hang_up(state, driven)
    driven.move(Move.REST)
    driven.trouble = why
    ladder = state.settings.retry_ladder
    span = ladder[-1] if long else ladder[min(driven.failures, len(ladder) - 1)]
    driven.failures += 1
    driven.rest = span
    state.draft.ask(SetTimer((RETRY, driven.channel), span))
    if not keep:
        driven.linked = False
        tell_links(state, driven, Happening.FAILED, status, rest=span)
    if long:
        state.draft.ask(Warn(state.channels[driven.channel].responder, "a channel stands still", why))
    answer_all(state, driven, Done(False, why))


def tell_links(
    state: State,
    driven: Driven,
    happening: Happening,
    status: ConnectionStatus,
    rest: Duration | None = None,
) -> None:
    """The outgoing queues that this channel brings are in another state; unless somebody comes for them."""
    if not is_fetcher(state, state.channels[driven.channel].responder):
        for queue in driven.queues:
            changed = ConnectionChanged(queue, happening, status, addresses=(driven.url,), rest=rest)
            state.draft.tell(changed)


def is_fetcher(state: State, responder: str) -> bool:
    """Whether an agent fetches what is for it: nobody dials it."""
    return agent_of(responder) in state.fetchers


def renew(state: State, driven: Driven, why: str, status: ConnectionStatus) -> None:
    """Go on at once, where this is the first trouble since something went well; else after a rest."""
    if driven.failures:
        rest(state, driven, why, status=status)
    else:
        driven.failures, driven.trouble = 1, why
        end(state, driven)


def answer_all(state: State, driven: Driven, done: Done) -> None:
    """Tell the administrators who wait; what they wanted is not tried again where it failed."""
    driven.leaving = driven.leaving and not driven.forgetters
    for caller in (*driven.reporters, *driven.forgetters):
        state.draft.ask(Reply(caller, done))
    driven.reporters.clear()
    driven.forgetters.clear()


# -- no response


def on_lost(state: State, driven: Driven, event: RequestFailed) -> None:
    """Responses will not come.  A connection that was idle too long is made anew at once."""
    if event.failure in UNSENT:
        _take_back(state, driven)
    why = event.why or f"{driven.url} gave no usable response: {event.failure.value}"
    status = FAILED_WITH[event.failure]
    if event.failure is Failure.LOST and driven.linked:
        renew(state, driven, why, status)
    else:
        rest(state, driven, why, status=status)


def _take_back(state: State, driven: Driven) -> None:
    """Nothing was sent, so nothing is in doubt: whoever fetches them himself may have the messages (P2)."""
    batches = tuple(asked.batch for asked in driven.asked if asked.batch)
    driven.asked.clear()
    conclude(state, driven.channel, Settlement(returned=batches))


# -- a response with an error


def suspect(driven: Driven, asked: Asked, error: Error) -> None:
    """A batch of one message is refused for it: when it is back it goes no more (before it is settled)."""
    if asked.messages == 1 and reaction_to(error.number) is Reaction.SUSPECT:
        driven.suspects[asked.batch] = NACKS[ErrorNumber(error.number)]


def react(state: State, driven: Driven, asked: Asked, error: Error, now: Instant) -> None:
    """Do what the table says about an error; the batches that it speaks of are settled already."""
    del now
    why = f"{driven.url} answered {error.number} {error.text}"
    refused = ConnectionStatus.CONNECTION_REFUSED
    match reaction_to(error.number):
        case Reaction.RENEW:
            renew(state, driven, why, refused)
        case Reaction.SHALLOW:
            # it may be in doubt about a batch that we never saw, and only REPORT can tell (T45)
            driven.unresolved = driven.unresolved or asked.fetches
            if driven.shallow:
                rest(state, driven, why)
            else:
                driven.shallow = True
                end(state, driven)
        case Reaction.SMALLER if asked.messages > 1:
            driven.most = asked.messages // 2
            end(state, driven)
        case Reaction.SUSPECT if asked.messages:
            _hunt(driven, asked)
            state.draft.ask(Warn(state.channels[driven.channel].responder, "a message is refused", why))
            end(state, driven)
        case Reaction.REST:
            rest(state, driven, why)
        case _:  # nothing is left to try: only a person can help
            rest(state, driven, why, long=True)


def _hunt(driven: Driven, asked: Asked) -> None:
    """Look for the message in half as many; it was alone: it is found."""
    driven.hunt = Hunt(asked.queue, asked.messages // 2, asked.messages) if asked.messages > 1 else None

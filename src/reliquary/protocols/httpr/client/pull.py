"""Messages are fetched, D.4 of the digest: PULL, and the second half of EXCHANGE.

    PULL --> a batch --> B.4 --> BatchArrived --> BatchJudged --> BatchReceived; the next PULL acknowledges it
        |                 '--> refused: nothing is stored, and the peer is asked how far it got
        '--> nothing: the next PULL at once where the peer waited for messages, else after a rest

What the manager does not take is rolled back: REPORT says so at once, and PULL comes again after a rest.
"""

from __future__ import annotations

from functools import partial
from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Duration, Instant
from reliquary.base.turn import SetTimer, Warn
from reliquary.protocols.httpr.addresses import read_target
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import ALONE, Asked, Driven, Fetched
from reliquary.protocols.httpr.client.failures import end, renew
from reliquary.protocols.httpr.client.phases import Move, Phase
from reliquary.protocols.httpr.client.requests import ask
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Command, Disposition, Outcome
from reliquary.protocols.httpr.events import ResponseArrived
from reliquary.protocols.httpr.facts import BatchReceived
from reliquary.protocols.httpr.routing import placed, sink_of
from reliquary.protocols.httpr.server.responses import tell_duplicates, unwanted
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import Reception, reception
from reliquary.queueing.message import MessageClass
from reliquary.queueing.security.principals import MANAGER
from reliquary.queueing.travel import transfer
from reliquary.queueing.travel.link import ConnectionStatus
from reliquary.queueing.travel.transfer import BatchArrived, BatchJudged

FETCH: Final = "httpr-fetch"
"""The timer after which messages are fetched again."""
EMPTY_REST: Final = Duration(SECOND)
"""Until the next PULL, where a peer answers that it has nothing without having waited for some."""


# -- PULL


def may_fetch(state: State, driven: Driven) -> bool:
    """Whether messages are to be fetched now."""
    allowed = driven.fetches and state.online and not driven.fetch_rests and not driven.leaving
    return allowed and Command.PULL in driven.agreed.flows


def owes_word(state: State, driven: Driven) -> bool:
    """Whether the peer does not know yet that we have its last batch."""
    return state.channels[driven.channel].last_received_id != driven.told


def pull(state: State, driven: Driven, now: Instant) -> bool:
    """Send a PULL, where one may go; several only while there is more than one brings.

    Where some are waiting already, one more tells of the last batch, so that it is not in doubt for as long.
    """
    at_once = ALONE if driven.empty or driven.sends_as_well else driven.depth
    enough = driven.fetching >= at_once and not owes_word(state, driven)
    if not may_fetch(state, driven) or enough:
        return False
    driven.move(Move.FLOW)
    ask(state, driven, Command.PULL, now)
    return True


def on_empty(state: State, driven: Driven, asked: Asked, now: Instant) -> None:
    """There was nothing (F-10); who did not wait for it is not asked again at once."""
    driven.empty = True
    waited = now - asked.at >= max(driven.empty_wait // 2, EMPTY_REST // 2)
    if driven.fetches and not waited and not driven.fetching:
        fetch_later(state, driven, EMPTY_REST)


def fetch_later(state: State, driven: Driven, span: Duration) -> None:
    """Fetch nothing for a while."""
    driven.fetch_rests = True
    state.draft.ask(SetTimer((FETCH, driven.channel), span))


# -- a batch


def on_batch(state: State, driven: Driven, event: ResponseArrived) -> None:
    """Take what a response brought; the manager is asked in this turn."""
    batch, number = event.header.transaction_id, driven.channel
    assert batch is not None, "a batch has an id"
    if event.disposition is Disposition.ABORT:  # HR-115; the peer gives it back to itself
        unwanted(state, event.batch)
        return
    verdict = reception(state.channels[number], batch)
    if verdict is not Reception.TAKEN:  # HR-055, HR-081
        if verdict is Reception.KNOWN and event.batch:
            tell_duplicates(state, number, batch, len(event.batch))
        unwanted(state, event.batch)
        driven.unresolved = True
        why = f"{driven.url} sent batch {batch}, which is {verdict.value}"
        renew(state, driven, why, ConnectionStatus.CONNECTION_REFUSED)
        return
    driven.empty = len(event.batch) < driven.agreed.maximum_batch_size
    fetched = driven.fetched = Fetched(batch, event.batch)
    try:
        fetched.names, fetched.messages = placed(event.batch, partial(_queue_for, state, driven))
    except (HttprFault, UsageError) as wrong:
        _refuse(state, driven, str(wrong))
        return
    if fetched.messages:
        _bring_in(state, driven, fetched)
    else:  # H-24
        _receive(state, driven, Outcome.COMMIT)


def _bring_in(state: State, driven: Driven, fetched: Fetched) -> None:
    """Give it to the manager; whoever told us to fetch there trusts what comes."""
    number = driven.channel
    transaction = UUID(int=number << 64 | fetched.batch)
    state.draft.tell(
        BatchArrived(
            HOLDER,
            number,
            fetched.names,
            fetched.messages,
            transaction,
            MANAGER,
            checked=True,
            peer=state.channels[number].responder,
        )
    )


def _queue_for(state: State, driven: Driven, target: str) -> str:
    """A Destination of ours; else the queue for all that comes from this peer."""
    into = driven.peer.into
    where = read_target(target) if target else None
    ours = where is not None and where.authority in state.authorities and where.queue
    return into if into and not ours else sink_of(state, target, into)


def on_judged(state: State, driven: Driven, signal: BatchJudged) -> None:
    """The manager has taken all of it, or nothing (P3, P5)."""
    fetched, into = driven.fetched, driven.peer.into
    assert fetched is not None, "the manager judged what it was not asked"
    if signal.outcome is transfer.Outcome.DELIVERED:
        _receive(state, driven, Outcome.COMMIT)
        return
    missing = fetched.names[signal.place] if signal.reason is MessageClass.NACK_BAD_DEST_QUEUE else into
    if into and missing != into:  # else one message without a queue would be in the way of all for ever
        fetched.names = tuple(into if name == missing else name for name in fetched.names)
        why = f"there is no {missing}, so {into} has them"
        state.draft.ask(Warn(state.channels[driven.channel].responder, "messages have no queue", why))
        _bring_in(state, driven, fetched)
    else:
        _refuse(state, driven, signal.why or signal.reason.name)


def _receive(state: State, driven: Driven, outcome: Outcome) -> Fetched:
    fetched, driven.fetched = driven.fetched, None
    assert fetched is not None, "the manager judged what it was not asked"
    apply(state, BatchReceived(driven.channel, fetched.batch, outcome))
    if outcome is Outcome.COMMIT:
        driven.fetch_failures = 0
    return fetched


def _refuse(state: State, driven: Driven, why: str) -> None:
    """Roll it back: REPORT says so, not PULL, and what was pipelined behind it is not heard."""
    unwanted(state, _receive(state, driven, Outcome.ROLLBACK).carried)
    driven.unresolved = driven.empty = True
    ladder = state.settings.retry_ladder
    fetch_later(state, driven, ladder[min(driven.fetch_failures, len(ladder) - 1)])
    driven.fetch_failures += 1
    state.draft.ask(Warn(state.channels[driven.channel].responder, "fetched messages are not taken", why))
    if driven.asked:
        end(state, driven)
    elif driven.phase is Phase.READY:
        driven.move(Move.UNRESOLVED)

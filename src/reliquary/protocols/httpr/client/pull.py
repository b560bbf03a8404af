"""Fetches messages with PULL and with the second half of EXCHANGE, 5.3 and 5.4.

    PULL --> a new batch --> BatchArrived --> BatchJudged --> BatchReceived; the next PULL acknowledges it
        |                         '--> refused: nothing is stored, and REPORT asks for the peer's last id
        '--> no batch: the next PULL at once if the peer waited for messages, else after a pause

A batch is new if its id is greater than those that came before it (HR-055).  A batch that the queue manager
does not take is rolled back: REPORT says so at once, and PULL comes again after a pause.
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
from reliquary.protocols.httpr.batches import discard_bodies, report_duplicates
from reliquary.protocols.httpr.client.channel import SINGLE, ClientChannel, FetchedBatch
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.client.failures import end_session, reconnect
from reliquary.protocols.httpr.client.phases import Move, Phase
from reliquary.protocols.httpr.client.requests import send_request
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Command, Disposition, Outcome
from reliquary.protocols.httpr.events import ResponseArrived
from reliquary.protocols.httpr.facts import BatchReceived
from reliquary.protocols.httpr.routing import placed, sent_on, sink_of
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import Reception, reception
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.model.travel.link import ConnectionStatus
from reliquary.queueing.model.travel.transfer import BatchArrived, BatchJudged
from reliquary.queueing.travel.crossing import leads_elsewhere

FETCH: Final = "httpr-fetch"
"""The timer after which messages are fetched again."""
EMPTY_PAUSE: Final = Duration(SECOND)
"""The pause before the next PULL, if the peer answered "no messages" without waiting for some."""


# -- PULL


def may_fetch(state: State, channel: ClientChannel) -> bool:
    """Return whether messages are to be fetched now."""
    fetching, leaving = channel.fetching, channel.requested.leaving
    allowed = fetching.enabled and state.client.online and not fetching.paused and not leaving
    return allowed and Command.PULL in channel.session.agreed.flows


def owes_acknowledgement(state: State, channel: ClientChannel) -> bool:
    """Return whether no request has acknowledged the peer's last batch yet."""
    return state.channels[channel.number].last_received_id != channel.fetching.acknowledged


def send_pull(state: State, channel: ClientChannel, now: Instant) -> bool:
    """Send a PULL; return False if none may be sent.

    Several are pending only while the peer has more messages than one PULL brings.  If enough are
    pending, one more acknowledges the last batch, which would otherwise stay in doubt until they are
    answered.
    """
    most = SINGLE if channel.fetching.peer_drained or channel.is_bidirectional else channel.depth
    enough = channel.connection.pending_fetches >= most and not owes_acknowledgement(state, channel)
    if not may_fetch(state, channel) or enough:
        return False
    channel.move(Move.FLOW)
    send_request(state, channel, Command.PULL, now)
    return True


def on_empty(state: State, channel: ClientChannel, request: SentRequest, now: Instant) -> None:
    """Send another PULL when the peer had no messages (F-10), after a pause if it did not wait for some."""
    channel.fetching.peer_drained = True
    waited = now - request.sent_at >= max(channel.session.longest_empty_wait // 2, EMPTY_PAUSE // 2)
    if channel.fetching.enabled and not waited and not channel.connection.pending_fetches:
        _pause_fetching(state, channel, EMPTY_PAUSE)


def _pause_fetching(state: State, channel: ClientChannel, span: Duration) -> None:
    channel.fetching.paused = True
    state.draft.ask(SetTimer((FETCH, channel.number), span))


# -- a batch


def on_batch(state: State, channel: ClientChannel, event: ResponseArrived) -> None:
    """Check the batch of a response, and hand it to the queue manager, which judges it in this turn."""
    batch, number = event.header.transaction_id, channel.number
    assert batch is not None, "a batch has an id"
    if event.disposition is Disposition.ABORT:  # HR-115; the peer keeps the messages
        discard_bodies(state, event.batch)
        return
    verdict = reception(state.channels[number], batch)
    if verdict is not Reception.TAKEN:  # HR-055, HR-081
        if verdict is Reception.KNOWN and event.batch:
            report_duplicates(state, number, batch, event.batch)
        discard_bodies(state, event.batch)
        channel.unresolved = True
        why = f"{channel.url} sent batch {batch}, which is {verdict.value}"
        reconnect(state, channel, why, ConnectionStatus.CONNECTION_REFUSED)
        return
    channel.fetching.peer_drained = len(event.batch) < channel.session.agreed.maximum_batch_size
    fetched = channel.fetching.batch = FetchedBatch(batch, event.batch)
    try:
        fetched.names, fetched.messages = placed(
            event.batch, partial(_queue_for, state, channel), _transaction(channel, fetched)
        )
    except (HttprFault, UsageError) as wrong:
        _roll_back(state, channel, str(wrong))
        return
    if fetched.messages:
        _deliver(state, channel, fetched)
    else:  # H-24
        _record(state, channel, Outcome.COMMIT)


def _deliver(state: State, channel: ClientChannel, fetched: FetchedBatch) -> None:
    """Hand the batch to the queue manager.

    The setting `pull` means that the administrator trusts this peer.
    """
    number = channel.number
    state.draft.signal(
        BatchArrived(
            HOLDER,
            number,
            fetched.names,
            fetched.messages,
            _transaction(channel, fetched),
            MANAGER,
            checked=True,
            peer=state.channels[number].responder,
        )
    )


def _transaction(channel: ClientChannel, fetched: FetchedBatch) -> UUID:
    return UUID(int=channel.number << 64 | fetched.batch)


def _queue_for(state: State, channel: ClientChannel, target: str) -> str:
    """Return the local queue of a Destination, or else the queue for all messages from this peer."""
    into = channel.peer.into
    where = read_target(target) if target else None
    ours = where is not None and where.authority in state.authorities and where.queue
    return into if into and not ours else sink_of(state, target, into)


def on_judged(state: State, channel: ClientChannel, signal: BatchJudged) -> None:
    """Record whether the queue manager has taken the whole batch or none of it (P3, P5)."""
    fetched, into = channel.fetching.batch, channel.peer.into
    assert fetched is not None, "the manager judged what it was not asked"
    if signal.outcome is transfer.Outcome.DELIVERED:
        _record(state, channel, Outcome.COMMIT)
        return
    missing = fetched.names[signal.place] if signal.reason is MessageClass.NACK_BAD_DEST_QUEUE else into
    if into and missing != into:  # otherwise one message without a queue would block all others permanently
        if leads_elsewhere(into):
            transaction = _transaction(channel, fetched)
            fetched.messages = tuple(
                sent_on(message, transaction) if name == missing else message
                for name, message in zip(fetched.names, fetched.messages, strict=True)
            )
        fetched.names = tuple(into if name == missing else name for name in fetched.names)
        why = f"there is no queue {missing}, so its messages go to {into}, the `into` of this peer"
        responder = state.channels[channel.number].responder
        state.draft.ask(Warn(responder, "fetched messages name a queue that does not exist", why))
        _deliver(state, channel, fetched)
    else:
        _roll_back(state, channel, signal.why or signal.reason.name)


def _record(state: State, channel: ClientChannel, outcome: Outcome) -> FetchedBatch:
    """Record the outcome of the fetched batch, and return the batch."""
    fetched, channel.fetching.batch = channel.fetching.batch, None
    assert fetched is not None, "the manager judged what it was not asked"
    apply(state, BatchReceived(channel.number, fetched.batch, outcome))
    if outcome is Outcome.COMMIT:
        channel.fetching.failures = 0
    return fetched


def _roll_back(state: State, channel: ClientChannel, why: str) -> None:
    """Roll the fetched batch back; REPORT reports that, not PULL, and pipelined responses are ignored."""
    fetched = _record(state, channel, Outcome.ROLLBACK)
    discard_bodies(state, fetched.carried)
    channel.unresolved = channel.fetching.peer_drained = True
    ladder = state.settings.retry_ladder
    _pause_fetching(state, channel, ladder[min(channel.fetching.failures, len(ladder) - 1)])
    channel.fetching.failures += 1
    responder = state.channels[channel.number].responder
    why = f"batch {fetched.batch}: {why}; it stays at the peer and is fetched again after a pause"
    state.draft.ask(Warn(responder, "a fetched batch was refused", why))
    if channel.connection.pending:
        end_session(state, channel)
    elif channel.phase is Phase.READY:
        channel.move(Move.UNRESOLVED)

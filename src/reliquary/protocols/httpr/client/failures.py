"""Reacts to failures on a channel of the client: with a new session, a pause before a retry, or a warning.

A request that was sent and has no response stays in doubt after every kind of failure; the next request
is a REPORT.
"""

from __future__ import annotations

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import Reply, SetTimer, Warn
from reliquary.protocols.httpr.batches import end_batches
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.client.phases import Move
from reliquary.protocols.httpr.client.reactions import FAILED_WITH, NACKS, UNSENT, Reaction, reaction_to
from reliquary.protocols.httpr.client.refusals import RefusedBatch
from reliquary.protocols.httpr.codec.values import Error, ErrorNumber, ResponseHeader
from reliquary.protocols.httpr.effects import HangUp
from reliquary.protocols.httpr.events import Failure, RequestFailed
from reliquary.protocols.httpr.outgoing import is_fetcher
from reliquary.protocols.httpr.reasons import reason_in
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.model.administration import Done
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import ConnectionChanged

RETRY = "httpr-retry"
"""The timer of a channel that pauses after a failure."""


# -- the end of a connection


def end_session(state: State, channel: ClientChannel) -> None:
    """End the session and its connection; the next request begins a new session."""
    _hang_up(state, channel)
    channel.move(Move.END)


def _hang_up(state: State, channel: ClientChannel) -> None:
    """Close the connection: responses that still come on it are ignored (HR-042, HR-043)."""
    connection = channel.connection
    if connection.is_open:
        state.draft.ask(HangUp(channel.number, connection.epoch))
    connection.is_open = False
    channel.session.identifier = ""
    # a lost response may have left the peer in doubt (HR-022); the row holds our batches in doubt
    channel.unresolved = channel.unresolved or any(each.fetches for each in connection.pending)
    connection.pending.clear()


def retry_later(
    state: State,
    channel: ClientChannel,
    why: str,
    *,
    status: ConnectionStatus = ConnectionStatus.CONNECTION_REFUSED,
    long: bool = False,
    keep: bool = False,
) -> None:
    """Pause before the next try, longer after each failure.

    `long` takes the longest pause and warns, because only an administrator can help; `keep` keeps the
    session.
    """
    if not keep:
        _hang_up(state, channel)
    channel.move(Move.REST)
    channel.retry.last_error = why
    ladder = state.settings.retry_ladder
    span = ladder[-1] if long else ladder[min(channel.retry.failures, len(ladder) - 1)]
    channel.retry.failures += 1
    channel.retry.after = span
    state.draft.ask(SetTimer((RETRY, channel.number), span))
    if not keep:
        channel.outgoing.reported_connected = False
        report_links(state, channel, OutgoingEvent.FAILED, status, rest=span)
    if long:
        row = state.channels[channel.number]
        state.draft.ask(Warn(row.responder, "a channel waits for an administrator", f"{row.name}: {why}"))
    answer_administrators(state, channel, Done(False, why))


def reconnect(state: State, channel: ClientChannel, why: str, status: ConnectionStatus) -> None:
    """Begin a new session at once after the first failure since something succeeded; else after a pause."""
    if channel.retry.failures:
        retry_later(state, channel, why, status=status)
    else:
        channel.retry.failures, channel.retry.last_error = 1, why
        end_session(state, channel)


def report_links(
    state: State,
    channel: ClientChannel,
    event: OutgoingEvent,
    status: ConnectionStatus,
    rest: Duration | None = None,
) -> None:
    """Report the new state of the outgoing queues, unless the peer fetches their messages."""
    if not is_fetcher(state, state.channels[channel.number].responder):
        for queue in channel.outgoing.queues:
            changed = ConnectionChanged(queue, event, status, addresses=(channel.url,), rest=rest)
            state.draft.signal(changed)


def answer_administrators(state: State, channel: ClientChannel, done: Done) -> None:
    """Answer the waiting administrators; a `forget` that failed is not tried again."""
    requested = channel.requested
    requested.leaving = requested.leaving and not requested.forget_callers
    for caller in (*requested.report_callers, *requested.forget_callers):
        state.draft.ask(Reply(caller, done))
    requested.report_callers.clear()
    requested.forget_callers.clear()


# -- no response


def on_failed(state: State, channel: ClientChannel, event: RequestFailed) -> None:
    """Retry after responses were lost; a connection that was idle too long is opened again at once."""
    if event.failure in UNSENT:
        _return_unsent(state, channel)
    why = event.why or f"{channel.url} gave no usable response: {event.failure.value}"
    status = FAILED_WITH[event.failure]
    if event.failure is Failure.LOST and channel.outgoing.reported_connected:
        reconnect(state, channel, why, status)
    else:
        retry_later(state, channel, why, status=status)


def _return_unsent(state: State, channel: ClientChannel) -> None:
    """Return the messages of batches that were never sent, so that the peer may fetch them (P2)."""
    batches = tuple(request.batch for request in channel.connection.pending if request.batch)
    channel.connection.pending.clear()
    end_batches(state, channel.number, Settlement(returned=batches))


# -- a response with an error


def note_refused_message(
    state: State, channel: ClientChannel, request: SentRequest, error: Error, now: Instant
) -> None:
    """Record that the peer refuses the only message of a batch, which is then not sent again.

    A queue that the peer does not have may be created soon, so for a time the message stays and its
    queue pauses.  This is called before the batch is settled.
    """
    if request.messages != 1 or reaction_to(error.number) is not Reaction.SUSPECT:
        return
    rest = None
    if error.number == ErrorNumber.SINK_NOT_KNOWN:
        since = channel.refusals.missing.setdefault(request.queue, now)
        if now - since < state.settings.missing_queue_time:
            rest = state.settings.retry_ladder[-1]
    why = f"{channel.url} answered {error.number} {error.text}"
    reason = NACKS[ErrorNumber(error.number)]
    channel.refusals.batches[request.batch] = RefusedBatch(request.queue, reason, why, rest)


def handle_error(state: State, channel: ClientChannel, request: SentRequest, header: ResponseHeader) -> None:
    """Do what the table says about an error; the batches that the response names are settled already."""
    error, reason = header.error, reason_in(header)
    assert error is not None, "the response has an error"
    why = f"{channel.url} answered {error.number} {error.text}" + (f": {reason}" if reason else "")
    refused = ConnectionStatus.CONNECTION_REFUSED
    match reaction_to(error.number):
        case Reaction.RENEW:
            reconnect(state, channel, why, refused)
        case Reaction.SHALLOW:
            # the peer may be in doubt about a batch that it never named, and only REPORT can show that
            # (T45)
            channel.unresolved = channel.unresolved or request.fetches
            if channel.refusals.single_requests:
                retry_later(state, channel, why)
            else:
                channel.refusals.single_requests = True
                end_session(state, channel)
        case Reaction.SMALLER if request.messages > 1:
            channel.refusals.batch_limit = request.messages // 2
            end_session(state, channel)
        case Reaction.SUSPECT if request.messages:
            channel.refusals.start_search(request)
            state.draft.ask(Warn(state.channels[channel.number].responder, "a message is refused", why))
            end_session(state, channel)
        case Reaction.REST:
            retry_later(state, channel, why)
        case _:  # nothing is left to try: only an administrator can help
            retry_later(state, channel, why, long=True)

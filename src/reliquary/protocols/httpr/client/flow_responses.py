"""Processes responses to PUSH, PULL and EXCHANGE, 5.2 to 5.4.

error           settle, then react as the table in `reactions` says
INDOUBT         the batch stays in doubt: a pause, then REPORT
ROLLBACK        its messages are available again: a pause, then they are sent under a new id
otherwise       a batch is taken, the session goes on or ends; REPORT resolves the rest when all requests
                are answered
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.httpr.batches import discard_bodies
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.client.failures import (
    end_session,
    handle_error,
    note_refused_message,
    retry_later,
)
from reliquary.protocols.httpr.client.outcomes import resume, settle
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.client.pull import on_batch, on_empty
from reliquary.protocols.httpr.codec.capabilities import agreed
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Outcome, SessionMark
from reliquary.protocols.httpr.events import ResponseArrived
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.transactions import OutcomeMessage


def on_response(
    state: State, channel: ClientChannel, request: SentRequest, event: ResponseArrived, now: Instant
) -> None:
    """Settle our batches, take the batch of the response, and continue."""
    header = event.header
    ended = header.session is SessionMark.END
    if header.error is not None:
        note_refused_message(state, channel, request, header.error, now)
    # A rollback in a session that goes on does not settle the batches behind it: as with GET-RESPONDER-
    # INFO, only REPORT can return their messages.
    by = OutcomeMessage.RESPONSE if ended or not channel.connection.pending else OutcomeMessage.INFO_ANSWER
    settled = settle(state, channel, header, by)
    if header.error is not None or settled.returned or header.outcome is Outcome.INDOUBT:
        _on_refusal(state, channel, request, event)
        return
    if header.capabilities is not None and not channel.session.identifier:  # H-04
        try:
            channel.session.agreed = agreed(channel.session.proposed, header.capabilities)
        except HttprFault as wrong:
            retry_later(state, channel, str(wrong), long=True)
            return
    channel.retry.failures = 0
    channel.refusals.missing.pop(request.queue, None)
    channel.refusals.continue_search(request, settled.committed)
    if header.transaction_id is not None:
        on_batch(state, channel, event)
    elif request.fetches:
        on_empty(state, channel, request, now)
    if channel.phase is not Phase.WAITING:
        return  # the batch ended the session
    if ended:
        end_session(state, channel)
    elif not channel.connection.pending:
        resume(state, channel)


def _on_refusal(
    state: State, channel: ClientChannel, request: SentRequest, event: ResponseArrived
) -> None:  # fmt: skip
    """React to an error, INDOUBT or ROLLBACK.

    A batch in the response is not taken, and is in doubt at the peer.
    """
    header = event.header
    if header.transaction_id is not None:
        discard_bodies(state, event.batch)
        channel.unresolved = True
    if header.error is not None:
        handle_error(state, channel, request, header)
    elif header.outcome is Outcome.INDOUBT:  # HR-068
        retry_later(state, channel, f"{channel.url} does not know the outcome of batch {header.completed}")
    else:
        keep = header.session is not SessionMark.END and not channel.connection.pending  # H-08
        retry_later(state, channel, f"{channel.url} rolled batch {header.completed} back", keep=keep)

"""Takes the batches of PUSH and of the first half of EXCHANGE, 5.2 and 5.4.

    new? --> abort? --> messages, their queues --> BatchArrived --> BatchJudged --> BatchReceived, the answer
     |         |                |                                     |
    529     ROLLBACK      518, 520, 526                    513, 514, 515, 518, 525

A batch is new if its id is greater than those that came before it (HR-055).

The messages and `BatchReceived` are one write, and the answer leaves after its sync (P3, HR-056).  The store
is never in doubt about a batch: if a sync fails, the process ends, and the client gets no answer and REPORTs.
So this server never answers INDOUBT (P6); it understands INDOUBT from a client.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.batches import discard_bodies, report_duplicates
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import (
    NOTHING,
    Carried,
    Command,
    Disposition,
    ErrorNumber,
    Outcome,
)
from reliquary.protocols.httpr.facts import BatchReceived
from reliquary.protocols.httpr.fields import read_fields
from reliquary.protocols.httpr.routing import into, placed, sink_of
from reliquary.protocols.httpr.server import pull, responses
from reliquary.protocols.httpr.server.channel import PendingRequest, ServerChannel
from reliquary.protocols.httpr.server.refusals import fault, not_taken
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import TAKEN, Reception, reception
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.model.travel.transfer import BatchArrived, BatchJudged

_ABORT: Final = Disposition.ABORT
_COMMIT: Final = Outcome.COMMIT
_DELIVERED: Final = transfer.Outcome.DELIVERED
_EXCHANGE: Final = Command.EXCHANGE
_MALFORMED: Final = Reception.MALFORMED


def serve(state: State, channel: ServerChannel, request: PendingRequest, now: Instant) -> None:
    """Check the batch of a request, and hand it to the queue manager; HttprFault if it is refused."""
    batch = _checked_id(state, channel, request)
    if request.event.disposition is _ABORT:
        _abort(state, channel, request, batch, now)
        return
    if not request.event.batch:  # H-24
        apply(state, BatchReceived(channel.number, batch, Outcome.COMMIT))
        _answer(state, channel, request, batch, now)
        return
    transaction = UUID(int=channel.number << 64 | batch)
    try:
        names, messages = _messages(state, channel, request, transaction)
    except HttprFault:
        apply(state, BatchReceived(channel.number, batch, Outcome.ROLLBACK))  # P5
        raise
    state.draft.signal(
        BatchArrived(
            HOLDER,
            channel.number,
            names,
            messages,
            transaction,
            request.event.by,
            checked=True,
            peer=state.channels[channel.number].requester,
        )
    )


def on_judged(
    state: State, channel: ServerChannel, request: PendingRequest, signal: BatchJudged, now: Instant
) -> None:
    """Record whether the queue manager took the batch, and answer; HttprFault if it refused the batch."""
    batch = request.header.transaction_id
    assert batch is not None, "a batch that the manager saw has an id"
    taken = signal.outcome is _DELIVERED
    apply(state, BatchReceived(channel.number, batch, _COMMIT if taken else Outcome.ROLLBACK))
    if not taken:
        raise fault(not_taken(signal.reason), signal.why or signal.reason.name)
    _answer(state, channel, request, batch, now)


def _checked_id(state: State, channel: ServerChannel, request: PendingRequest) -> int:
    """Return the id of a batch that is new; HttprFault for all others."""
    event, batch = request.event, request.header.transaction_id
    verdict = reception(state.channels[channel.number], NOTHING if batch is None else batch)
    if verdict is _MALFORMED or event.disposition is None:
        raise HttprFault(
            ErrorNumber.HTTP_R_PROTOCOL_ERROR, "a batch must have an id and an end", spec="6.1.8"
        )
    assert batch is not None, "an id that is not valid was refused before"
    if verdict is not TAKEN:
        # DEPARTS from 6.2.16 (HR-116): the answer to an abort of an id that was received before has no
        # outcome, because ROLLBACK could contradict a COMMIT, and messages would come twice.
        if verdict is Reception.KNOWN and event.batch:
            report_duplicates(state, channel.number, batch, event.batch)
        why = f"batch {batch} is {verdict.value}"
        raise fault(ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED, why)
    return batch


def _answer(state: State, channel: ServerChannel, request: PendingRequest, batch: int, now: Instant) -> None:
    """Answer a batch that is in the queues; for EXCHANGE, fill the batch of the answer first."""
    pair = (_COMMIT, batch)
    if request.header.command is _EXCHANGE and not request.unsettled:
        pull.start(state, channel, request, pair, now)
    else:
        responses.respond(state, channel, request, now, pair=pair, ending=request.unsettled)


def _abort(state: State, channel: ServerChannel, request: PendingRequest, batch: int, now: Instant) -> None:
    """Discard an aborted batch and its id (HR-057, HR-115), and answer ROLLBACK (HR-116).

    Requests pipelined behind it must not be taken: the client counts them as rolled back too (H-08, HR-073).
    """
    discard_bodies(state, request.event.batch)
    ending = request.pipelined or request.header.command is Command.EXCHANGE
    responses.respond(state, channel, request, now, pair=(Outcome.ROLLBACK, batch), ending=ending)


def _messages(
    state: State, channel: ServerChannel, request: PendingRequest, transaction: UUID
) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """Return the queue for each message of a batch, and the messages."""
    otherwise = into(state.settings, channel.service)
    try:
        names, messages = placed(request.event.batch, lambda to: sink_of(state, to, otherwise), transaction)
    except UsageError as wrong:
        raise HttprFault(ErrorNumber.HTTP_R_PROTOCOL_ERROR, str(wrong), spec="6.2") from None
    if state.settings.user_ids:
        _check_users(state.settings.user_ids, request.event.batch)
    return names, messages


def _check_users(allowed: Collection[str], batch: tuple[Carried, ...]) -> None:
    """Refuse messages whose user-id the settings do not allow (HR-049)."""
    for carried in batch:
        user = read_fields(carried.header).get("user-id", "")
        if user not in allowed:
            raise fault(
                ErrorNumber.USERID_SECURITY, f"{user or 'a message without user-id'} may not send here"
            )

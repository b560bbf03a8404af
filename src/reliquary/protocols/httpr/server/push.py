"""Batches that come, D.3 of the digest: PUSH, and the first half of EXCHANGE.

    B.4 --> abort? --> messages, their queues --> BatchArrived --> BatchJudged --> BatchReceived, the answer
     |        |                |                                     |
    529    ROLLBACK      518, 520, 526                    513, 514, 515, 518, 525

The messages and `BatchReceived` are one write, and the answer leaves after its sync (P3, HR-056).  Our store
is never unsure of a batch: where a sync fails, the process ends, and its client hears nothing and REPORTs.
So INDOUBT is never an outcome of ours (P6); that of a client is understood.
"""

from __future__ import annotations

from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import NOTHING, Command, Disposition, ErrorNumber, Outcome
from reliquary.protocols.httpr.facts import BatchReceived
from reliquary.protocols.httpr.mapping import fields_of
from reliquary.protocols.httpr.routing import into, placed, sink_of
from reliquary.protocols.httpr.server import responses
from reliquary.protocols.httpr.server.channel import Asked, Served
from reliquary.protocols.httpr.server.refusals import not_taken
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import Reception, reception
from reliquary.queueing.message import Message
from reliquary.queueing.travel import transfer
from reliquary.queueing.travel.transfer import BatchArrived, BatchJudged


def receive(state: State, served: Served, asked: Asked, now: Instant) -> bool:
    """Take the batch of a request; True when it is taken already, because it is empty."""
    event, batch = asked.event, asked.header.transaction_id
    verdict = reception(state.channels[served.channel], NOTHING if batch is None else batch)
    if verdict is Reception.MALFORMED or event.disposition is None:
        raise HttprFault(ErrorNumber.HTTP_R_PROTOCOL_ERROR, "a batch has an id and an end", spec="6.1.8")
    assert batch is not None, "an id that is none is malformed"
    if verdict is not Reception.TAKEN:
        # DEPARTS from 6.2.16 (HR-116): the answer to an abort of an id that was received before says no
        # outcome, because ROLLBACK could contradict a COMMIT, and messages would come twice.
        if verdict is Reception.KNOWN and event.batch:
            responses.tell_duplicates(state, served.channel, batch, len(event.batch))
        why = f"batch {batch} is {verdict.value}"
        raise HttprFault(ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED, why, spec="5.6")
    if event.disposition is Disposition.ABORT:
        _abort(state, served, asked, batch, now)
        return False
    if not event.batch:  # H-24
        apply(state, BatchReceived(served.channel, batch, Outcome.COMMIT))
        return True
    try:
        names, messages = _messages(state, served, asked)
    except HttprFault:
        apply(state, BatchReceived(served.channel, batch, Outcome.ROLLBACK))  # P5
        raise
    transaction = UUID(int=served.channel << 64 | batch)
    state.draft.tell(
        BatchArrived(
            HOLDER,
            served.channel,
            names,
            messages,
            transaction,
            event.by,
            checked=True,
            peer=state.channels[served.channel].requester,
        )
    )
    return False


def judged(state: State, served: Served, asked: Asked, signal: BatchJudged) -> None:
    """The manager has taken all of it, or nothing; then the refusal is raised."""
    batch = asked.header.transaction_id
    assert batch is not None, "a batch that the manager saw has an id"
    taken = signal.outcome is transfer.Outcome.DELIVERED
    apply(state, BatchReceived(served.channel, batch, Outcome.COMMIT if taken else Outcome.ROLLBACK))
    if not taken:
        raise HttprFault(not_taken(signal.reason), signal.why or signal.reason.name, spec="5.6")


def _abort(state: State, served: Served, asked: Asked, batch: int, now: Instant) -> None:
    """Nothing of it is kept, its id neither (HR-057, HR-115); the answer says ROLLBACK (HR-116).

    What is pipelined behind it must not be taken: the client counts it as rolled back too (H-08, HR-073).
    """
    responses.unwanted(state, asked.event.batch)
    ending = asked.pipelined or asked.header.command is Command.EXCHANGE
    responses.respond(state, served, asked, now, pair=(Outcome.ROLLBACK, batch), ending=ending)


def _messages(
    state: State, served: Served, asked: Asked
) -> tuple[tuple[str, ...], tuple[Message, ...]]:  # fmt: skip
    """The messages of a batch, and the queue that each is for."""
    otherwise = into(state.settings, served.service)
    try:
        names, messages = placed(asked.event.batch, lambda to: sink_of(state, to, otherwise))
    except UsageError as wrong:
        raise HttprFault(ErrorNumber.HTTP_R_PROTOCOL_ERROR, str(wrong), spec="6.2") from None
    _check_users(state, messages)
    return names, messages


def _check_users(state: State, messages: tuple[Message, ...]) -> None:
    """HR-049."""
    allowed = state.settings.user_ids
    for message in messages if allowed else ():
        user = fields_of(message).get("user-id", "")
        if user not in allowed:
            why = f"{user or 'a message without user-id'} may not send here"
            raise HttprFault(ErrorNumber.USERID_SECURITY, why, spec="5.6")

"""Handle the requests of a transaction coordinator, as a resource manager: [MS-MQDMPR] 3.1.4.6 to 3.1.4.11.

coordinator --> DTC Prepare --> Transaction Prepare --> ok                  --> PREPAREREQDONE
                                                    '-> ok, single phase    --> DTC Commit
                                                    '-> refused             --> DTC Abort
coordinator --> DTC Commit ---> Transaction Commit ---> COMMITREQDONE
coordinator --> DTC Abort ----> Transaction Abort ----> ABORTREQDONE

The coordinator gets the answer of its event, so the answer leaves after the sync.  A coordinator whose
answer was lost may ask for the outcome again; a request for the opposite outcome is refused.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Answer, Begun, Enlisted, EnlistmentMessage
from reliquary.queueing.model.state import State
from reliquary.queueing.rules import readiness, transactions
from reliquary.queueing.rules.transactions import TransactionEvent, TransactionState

_END: Final = {TransactionEvent.COMMIT: transactions.commit, TransactionEvent.ABORT: transactions.abort}


def begin(state: State, request: events.BeginTransaction, now: Instant) -> Answer:
    """Create a transaction, or join one whose identifier a coordinator has given (DM-186, AN-30)."""
    identifier = request.identifier
    if identifier is not None:
        if not transactions.may(state, identifier, TransactionEvent.BEGIN):
            return transactions.refusal(state, identifier)
        known = state.transactions.open.get(identifier)
        if known is not None and (known.owner, known.external) != (request.owner, True):
            why = f"transaction {identifier} exists already and has another owner: begin one with another id"
            return Answer(HResult.TRANSACTION_SEQUENCE, why)
    if transactions.has_too_many(state, identifier):
        most = state.sizes.transactions
        why = f"one user has at most {most} open transactions, and all are open: end one of them"
        return Answer(HResult.INSUFFICIENT_RESOURCES, why)
    made = transactions.begin(state, request.timeout, now, identifier, request.owner)
    return Begun(HResult.OK, transaction=made.identifier)


def prepare(state: State, identifier: UUID, now: Instant, *, single_phase: bool) -> Answer:
    """Prepare a transaction and answer whether it is prepared (Transaction Prepare, 3.1.4.3)."""
    transaction = transactions.find(state, identifier, TransactionEvent.PREPARE)
    if transaction is None:
        return transactions.refusal(state, identifier)  # DM-101
    if transaction.external and single_phase:
        raise UsageError("another coordinator decides this transaction, so it is prepared for two phases")
    if transaction.prepared and transaction.single_phase and not single_phase:
        why = f"transaction {identifier} is prepared for one phase, and would not outlive a restart"
        return Answer(HResult.TRANSACTION_SEQUENCE, why)
    transactions.prepare(state, transaction, now, single_phase=single_phase)
    return Answer(HResult.OK)  # DM-105


def decide(state: State, identifier: UUID, step: TransactionEvent, now: Instant, by: str = "") -> Answer:
    """Commit or abort a transaction; its outcome may be asked for again, the opposite one is refused."""
    if not transactions.may(state, identifier, step):
        return transactions.refusal(state, identifier)
    transaction = transactions.find(state, identifier, step)
    if transaction is not None:
        _END[step](state, transaction, now, by)
        readiness.be_certain(state)
    return Answer(HResult.OK)


# -- the coordinator's events


def on_prepare(state: State, event: events.DtcPrepare, now: Instant) -> None:
    """Prepare a transaction; commit it at once if this is a single-phase commit (DM-117, DM-118)."""
    status = prepare(state, event.transaction, now, single_phase=False).status
    if status is not HResult.OK:
        _abort(state, event.to, event.transaction, now)
    elif event.single_phase:
        _commit(state, event.to, event.transaction, now)
    else:
        state.reply(event.to, Enlisted(HResult.OK, message=EnlistmentMessage.PREPARE_DONE))


def on_commit(state: State, event: events.DtcCommit, now: Instant) -> None:
    """Commit a transaction for its coordinator (DTC Transaction Commit, DM-119)."""
    _commit(state, event.to, event.transaction, now)


def on_abort(state: State, event: events.DtcAbort, now: Instant) -> None:
    """Abort a transaction for its coordinator (DTC Transaction Abort, DM-120)."""
    _abort(state, event.to, event.transaction, now)


def on_reenlistment_commit(state: State, event: events.DtcReenlistmentCommit, now: Instant) -> None:
    """Commit a transaction that was in doubt after a restart (DTC Reenlistment Commit, DM-121)."""
    state.reply(event.to, decide(state, event.transaction, TransactionEvent.COMMIT, now))


def on_reenlistment_abort(state: State, event: events.DtcReenlistmentAbort, now: Instant) -> None:
    """Abort a transaction that was in doubt after a restart (DTC Reenlistment Abort, DM-122)."""
    state.reply(event.to, decide(state, event.transaction, TransactionEvent.ABORT, now))


def on_reenlistment_timeout(state: State, event: events.DtcReenlistmentTimeout, now: Instant) -> None:
    """Leave transactions in doubt, as no outcome came in time (DTC Reenlistment Timeout, DM-123)."""
    del event, now
    readiness.stay_in_doubt(state)


def _commit(state: State, to: int, identifier: UUID, now: Instant) -> None:
    """Commit a transaction and send COMMITREQDONE, or the refusal."""
    # DEPARTS from 3.1.4.7 (DM-119): COMMITREQDONE is sent only after a commit, because a coordinator
    # that gets it for an aborted or unknown transaction would not notice that messages are lost.
    answer = decide(state, identifier, TransactionEvent.COMMIT, now)
    done = EnlistmentMessage.COMMIT_DONE if answer.status is HResult.OK else None
    state.reply(to, Enlisted(answer.status, answer.why, done))


def _abort(state: State, to: int, identifier: UUID, now: Instant) -> None:
    """Abort a transaction and send ABORTREQDONE, also for an unknown one, which has changed nothing."""
    answer = decide(state, identifier, TransactionEvent.ABORT, now)
    if answer.status is HResult.OK or transactions.stage(state, identifier) is TransactionState.UNKNOWN:
        state.reply(to, Enlisted(HResult.OK, message=EnlistmentMessage.ABORT_DONE))
    else:
        state.reply(to, Enlisted(answer.status, answer.why))

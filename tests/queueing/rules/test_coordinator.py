"""Tests of external transactions: their ids, the events of a coordinator, and doubt after a crash."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.turn import Reply
from reliquary.queueing.model.events import (
    AbortTransaction,
    AwaitDisk,
    BeginTransaction,
    CommitTransaction,
    DtcAbort,
    DtcCommit,
    DtcPrepare,
    DtcReenlistmentAbort,
    DtcReenlistmentCommit,
    DtcReenlistmentTimeout,
    Enlisted,
    EnlistmentMessage,
    PeekMessage,
    PrepareTransaction,
)
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.model.state import Sizes
from reliquary.wire.security import Sid
from tests.queueing.answers import body, everything
from tests.queueing.manager_harness import STARTER, Bench
from tests.queueing.state_checks import check

THEIRS = UUID(int=7)
WAIT = 30

PREPARED = Enlisted(HResult.OK, message=EnlistmentMessage.PREPARE_DONE)
COMMITTED = Enlisted(HResult.OK, message=EnlistmentMessage.COMMIT_DONE)
ABORTED = Enlisted(HResult.OK, message=EnlistmentMessage.ABORT_DONE)


def stands(bench: Bench) -> ManagerState:
    return bench.state.manager.state


def enlisted(bench: Bench, identifier: UUID = THEIRS, owner: str = "") -> UUID:
    """Return a transaction of an external coordinator that has received and sent."""
    bench.send("orders", b"received")
    transaction = bench.begin(identifier=identifier, owner=owner)
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"sent", transaction=transaction)
    return transaction


# -- enlist


@pytest.mark.spec("DM-186")
def test_a_transaction_of_another_coordinator_keeps_its_id() -> None:
    bench = Bench()
    assert bench.begin(identifier=THEIRS, owner="billing") == THEIRS
    found = bench.state.transactions.open[THEIRS]
    assert (found.external, found.single_phase) == (True, False)
    assert (found.owner, found.begun) == ("billing", bench.now)


@pytest.mark.spec("DM-186")
@pytest.mark.parametrize("prepared", [True, False])
def test_to_enlist_again_after_a_lost_answer_finds_the_transaction(prepared: bool) -> None:
    """AN-30: an identifier that is known gives the transaction that has it."""
    bench = Bench()
    transaction = enlisted(bench)
    if prepared:
        bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    before = everything(bench.state)
    assert bench.begin(identifier=THEIRS) == transaction
    assert everything(bench.state) == before


def test_no_client_enlists_in_the_transaction_of_another() -> None:
    bench = Bench()
    bench.begin(identifier=THEIRS, owner="billing")
    answer = bench.ask(BeginTransaction(0, identifier=THEIRS, owner="shipping"))
    assert answer.status is HResult.TRANSACTION_SEQUENCE
    assert "has another owner" in answer.why
    ours = bench.begin()
    assert bench.ask(BeginTransaction(0, identifier=ours)).status is HResult.TRANSACTION_SEQUENCE


@pytest.mark.parametrize("owner", ["x" * 129, "a\nb"])
def test_an_owner_is_a_name_that_can_be_shown(owner: str) -> None:
    bench = Bench()
    assert bench.ask(BeginTransaction(0, owner=owner)).status is HResult.INVALID_PARAMETER
    assert not bench.state.transactions.open


@pytest.mark.spec("DM-102")
def test_a_transaction_of_another_coordinator_is_prepared_for_two_phases_only() -> None:
    bench = Bench()
    transaction = enlisted(bench)
    before = everything(bench.state)
    answer = bench.ask(PrepareTransaction(0, transaction, single_phase=True))
    assert answer.status is HResult.INVALID_PARAMETER
    assert everything(bench.state) == before


@pytest.mark.spec("DM-102", "DM-118")
def test_what_was_prepared_for_one_phase_is_never_said_to_wait_for_an_outcome() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"sent", transaction=transaction)
    for _ in range(2):
        assert bench.ask(PrepareTransaction(0, transaction, single_phase=True)).status is HResult.OK
    refused = bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    assert refused.status is HResult.TRANSACTION_SEQUENCE
    assert "one phase" in refused.why
    assert bench.ask(DtcPrepare(0, transaction)) == ABORTED
    assert bench.bodies() == []
    check(bench.state)


def test_the_record_of_a_prepared_transaction_survives_a_crash() -> None:
    bench = Bench()
    transaction = enlisted(bench, owner="billing")
    bench.advance(5)
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    known = bench.state.transactions.open[transaction]
    bench.flush()
    bench.restart(crash=True)
    again = bench.state.transactions.open[transaction]
    assert (again.owner, again.external, again.begun) == ("billing", True, known.begun)
    assert again.prepared_at == known.prepared_at == known.begun + 5_000_000


# -- requests of the coordinator


@pytest.mark.spec("DM-117", "DM-118")
def test_a_coordinator_is_notified_that_a_transaction_is_prepared() -> None:
    bench = Bench()
    transaction = enlisted(bench)
    assert bench.ask(DtcPrepare(0, transaction)) == PREPARED
    assert not bench.state.transactions.open[transaction].single_phase
    bench.flush()
    bench.restart(crash=True)
    assert list(bench.state.transactions.open) == [transaction]


@pytest.mark.spec("DM-118")
def test_a_coordinator_without_another_participant_commits_in_one_step() -> None:
    bench = Bench()
    assert bench.ask(DtcPrepare(0, enlisted(bench), single_phase=True)) == COMMITTED
    assert bench.bodies() == [b"sent"]
    check(bench.state)


@pytest.mark.spec("DM-118")
def test_a_prepare_that_is_refused_is_an_abort() -> None:
    bench = Bench()
    assert bench.ask(DtcPrepare(0, THEIRS)) == ABORTED


@pytest.mark.spec("DM-119", "DM-120")
@pytest.mark.parametrize("prepared", [True, False])
@pytest.mark.parametrize(("end", "reported"), [(DtcCommit, COMMITTED), (DtcAbort, ABORTED)])
def test_a_coordinator_decides_and_may_ask_again(end: Any, reported: Enlisted, prepared: bool) -> None:
    bench = Bench()
    transaction = enlisted(bench)
    if prepared:
        bench.ask(DtcPrepare(0, transaction))
    assert bench.ask(end(0, transaction)) == reported
    assert bench.bodies() == ([b"sent"] if end is DtcCommit else [b"received"])
    if prepared:
        bench.restart()
        assert bench.ask(end(0, transaction)) == reported
    check(bench.state)


@pytest.mark.spec("DM-119")
def test_the_message_leaves_with_the_facts_that_make_it_true() -> None:
    bench = Bench()
    transaction = enlisted(bench)
    bench.ask(DtcPrepare(0, transaction))
    turn = bench.handle(DtcCommit(9, transaction))
    assert turn.facts
    assert Reply(9, COMMITTED) in turn.effects


@pytest.mark.spec("DM-119", "DM-120")
@pytest.mark.parametrize(
    ("first", "then"), [(AbortTransaction, DtcCommit), (CommitTransaction, DtcAbort)], ids=["commit", "abort"]
)
def test_a_coordinator_never_gets_a_wrong_outcome(first: Any, then: Any) -> None:
    """The answer names the administrator who decided against the coordinator."""
    bench = Bench()
    transaction = enlisted(bench)
    bench.ask(DtcPrepare(0, transaction))
    bench.ask(first(0, transaction, decided_by="alice"))
    answer = bench.ask(then(0, transaction))
    assert (answer.status, answer.message) == (HResult.TRANSACTION_SEQUENCE, None)
    assert answer.why.endswith("by alice")


@pytest.mark.spec("DM-119")
def test_a_commit_of_what_never_was_is_not_confirmed() -> None:
    answer = Bench().ask(DtcCommit(0, THEIRS))
    assert (answer.status, answer.message) == (HResult.TRANSACTION_SEQUENCE, None)


# -- in doubt after a restart


def in_doubt(wait: float, *more: UUID) -> Bench:
    """Return a manager that starts again with prepared transactions, and waits for their outcomes."""
    bench = Bench(in_doubt_wait=wait)
    for identifier in (THEIRS, *more):
        bench.ask(DtcPrepare(0, enlisted(bench, identifier)))
    bench.send("orders", b"other")
    bench.answers.pop(STARTER)
    bench.restart()
    return bench


@pytest.mark.spec("DM-096")
def test_without_a_wait_the_manager_is_ready_and_what_is_in_doubt_stays_locked() -> None:
    bench = in_doubt(0)
    assert stands(bench) is ManagerState.READY
    assert list(bench.state.transactions.open) == [THEIRS]
    assert bench.bodies() == [b"other"]
    assert bench.answer_to(STARTER).status is HResult.OK


@pytest.mark.spec("DM-096")
def test_with_a_wait_nothing_but_outcomes_is_taken() -> None:
    bench = in_doubt(WAIT)
    assert stands(bench) is ManagerState.INITIALIZING
    assert bench.answer_to(STARTER) is None
    before = everything(bench.state)
    for request in (
        PeekMessage(0, "orders"),
        BeginTransaction(0),
        PrepareTransaction(0, THEIRS),
        DtcPrepare(0, THEIRS),
    ):
        answer = bench.ask(request)
        assert answer.status is HResult.SERVICE_NOT_AVAILABLE
        assert answer.why == "the queue manager is initializing and waits for the outcome of 1 transactions"
    assert everything(bench.state) == before
    assert bench.ask(AwaitDisk(0)).status is HResult.OK


@pytest.mark.spec("DM-096", "DM-121", "DM-122")
@pytest.mark.parametrize(
    ("end", "left"),
    [
        (DtcReenlistmentCommit, [b"other", b"sent"]),
        (CommitTransaction, [b"other", b"sent"]),
        (DtcCommit, [b"other", b"sent"]),
        (DtcReenlistmentAbort, [b"other", b"received"]),
        (AbortTransaction, [b"other", b"received"]),
        (DtcAbort, [b"other", b"received"]),
    ],
)
def test_with_the_last_outcome_the_manager_is_ready(end: Any, left: list[bytes]) -> None:
    second = UUID(int=8)
    bench = in_doubt(WAIT, second)
    bench.ask(DtcReenlistmentAbort(0, second))
    assert stands(bench) is ManagerState.INITIALIZING
    assert bench.ask(end(0, THEIRS)).status is HResult.OK
    assert stands(bench) is ManagerState.READY
    assert bench.answer_to(STARTER).status is HResult.OK
    assert ("in doubt", 0) not in bench.timers
    assert sorted(set(bench.bodies())) == sorted({*left, b"received"})
    assert body(bench.receive("orders")) is not None
    check(bench.state)


@pytest.mark.spec("DM-121", "DM-122")
@pytest.mark.parametrize("end", [DtcReenlistmentCommit, DtcReenlistmentAbort])
def test_an_outcome_of_what_never_was_in_doubt_is_refused(end: Any) -> None:
    bench = in_doubt(WAIT)
    assert bench.ask(end(0, UUID(int=404))).status is HResult.TRANSACTION_SEQUENCE
    assert stands(bench) is ManagerState.INITIALIZING


@pytest.mark.spec("DM-123")
@pytest.mark.parametrize("how", ["the timer", "the coordinator"])
def test_without_the_outcome_the_start_fails_and_names_the_transactions(how: str) -> None:
    bench = in_doubt(WAIT)
    if how == "the timer":
        bench.advance(WAIT - 1)
        assert stands(bench) is ManagerState.INITIALIZING
        bench.advance(1)
    else:
        bench.handle(DtcReenlistmentTimeout())
    assert stands(bench) is ManagerState.STOPPED
    answer = bench.answer_to(STARTER)
    assert answer.status is HResult.SERVICE_NOT_AVAILABLE
    assert str(THEIRS) in answer.why
    bench.stop()
    bench.restart(crash=True)
    assert list(bench.state.transactions.open) == [THEIRS]


@pytest.mark.spec("DM-096")
def test_a_start_with_nothing_in_doubt_does_not_wait() -> None:
    bench = Bench(in_doubt_wait=WAIT)
    bench.ask(PrepareTransaction(0, bench.begin(), single_phase=True))  # DM-097: aborted at the start
    bench.restart()
    assert stands(bench) is ManagerState.READY
    assert not bench.timers


def test_a_manager_that_waits_can_be_stopped() -> None:
    bench = in_doubt(WAIT)
    bench.stop()
    assert stands(bench) is ManagerState.STOPPED
    assert not bench.timers
    assert bench.answer_to(STARTER).status is HResult.OPERATION_CANCELLED


def test_a_user_has_a_bounded_number_of_transactions_and_others_have_their_own() -> None:
    bench = Bench(sizes=Sizes(transactions=2))
    alice, bob = (Principal(Sid(5, (21, each))) for each in (1001, 1002))
    own = [bench.ask(BeginTransaction(0, by=alice)) for _ in range(2)]
    refused = bench.ask(BeginTransaction(0, by=alice))
    assert refused.status is HResult.INSUFFICIENT_RESOURCES
    assert refused.why == "one user has at most 2 open transactions, and all are open: end one of them"
    assert bench.ask(BeginTransaction(0, by=bob)).status is HResult.OK
    assert bench.ask(BeginTransaction(0)).status is HResult.OK  # the manager itself
    assert bench.ask(AbortTransaction(0, own[0].transaction, by=alice)).status is HResult.OK
    assert bench.ask(BeginTransaction(0, identifier=THEIRS, by=alice)).status is HResult.OK
    assert bench.ask(BeginTransaction(0, identifier=THEIRS, by=alice)).status is HResult.OK  # known already
    assert bench.ask(BeginTransaction(0, by=alice)).status is HResult.INSUFFICIENT_RESOURCES

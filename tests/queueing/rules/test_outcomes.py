"""Tests of the outcomes of prepared transactions: they survive restarts and are deleted in time."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND
from reliquary.queueing.model.events import (
    AbortTransaction,
    BeginTransaction,
    CommitTransaction,
    PrepareTransaction,
)
from reliquary.queueing.model.facts import OutcomesForgotten, TransactionEnded
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import Outcome
from reliquary.queueing.rules.outcomes import AT_ONCE, REMEMBERED
from tests.queueing.answers import everything
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.state_checks import check, durable

ENDS = [CommitTransaction, AbortTransaction]


def ended(bench: Bench, end: Any = CommitTransaction, **how: Any) -> UUID:
    transaction = bench.begin(**how)
    bench.send("orders", b"m1", transaction=transaction)
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.ask(end(0, transaction))
    return transaction


@pytest.mark.spec("DM-111", "DM-116")
@pytest.mark.parametrize("first", ENDS)
@pytest.mark.parametrize("again", ENDS)
@pytest.mark.parametrize("restarted", [True, False])
def test_an_outcome_may_be_repeated_and_the_other_one_is_refused(
    first: Any, again: Any, restarted: bool
) -> None:
    bench = Bench()
    transaction = ended(bench, first)
    if restarted:
        bench.restart()
    before = everything(bench.state)
    answer = bench.ask(again(0, transaction))
    assert everything(bench.state) == before
    if first is again:
        assert answer.status is HResult.OK
    else:
        assert answer.status is HResult.TRANSACTION_SEQUENCE
        how = "committed" if first is CommitTransaction else "aborted"
        assert answer.why == f"transaction {transaction} was {how} at 2023-11-14T22:13:20Z"


@pytest.mark.parametrize("first", ENDS)
def test_a_transaction_that_has_ended_is_neither_prepared_nor_begun_again(first: Any) -> None:
    bench = Bench()
    transaction = ended(bench, first, identifier=UUID(int=7))
    for request in (PrepareTransaction(0, transaction), BeginTransaction(0, identifier=transaction)):
        answer = bench.ask(request)
        assert answer.status is HResult.TRANSACTION_SEQUENCE
        assert "ed at 2023" in answer.why


def test_an_administrator_who_decides_is_recorded() -> None:
    bench = Bench()
    transaction = bench.begin(owner="billing", identifier=UUID(int=7))
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.advance(60)
    bench.ask(AbortTransaction(0, transaction, decided_by="alice"))
    bench.restart()
    assert bench.state.transactions.outcomes == {
        transaction: Outcome(committed=False, ended=NOON + 60 * SECOND, owner="billing", by="alice")
    }
    answer = bench.ask(CommitTransaction(0, transaction))
    assert answer.why.endswith("was aborted at 2023-11-14T22:14:20Z by alice")


@pytest.mark.parametrize("by", ["x" * 129, "a\nb"])
@pytest.mark.parametrize("end", ENDS)
def test_a_name_that_cannot_be_shown_is_refused(end: Any, by: str) -> None:
    bench = Bench()
    transaction = bench.begin()
    assert bench.ask(end(0, transaction, by)).status is HResult.INVALID_PARAMETER
    assert transaction in bench.state.transactions.open


@pytest.mark.parametrize("end", ENDS)
def test_a_transaction_that_was_not_prepared_leaves_no_row(end: Any) -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction)
    bench.ask(end(0, transaction))
    assert not bench.state.transactions.outcomes
    assert not [fact for fact in bench.facts if isinstance(fact, TransactionEnded)]
    assert bench.ask(end(0, transaction)).status is HResult.TRANSACTION_SEQUENCE


def test_the_oldest_are_forgotten_when_there_are_too_many() -> None:
    bench = Bench(sizes=Sizes(outcomes=3))
    ids = [ended(bench) for _ in range(5)]
    assert list(bench.state.transactions.outcomes) == ids[2:]
    check(bench.state)
    expected = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == expected
    bench.start()
    assert bench.ask(CommitTransaction(0, ids[0])).status is HResult.TRANSACTION_SEQUENCE


def test_an_outcome_is_remembered_for_thirty_days() -> None:
    bench = Bench()
    old = ended(bench)
    bench.advance(REMEMBERED / SECOND)
    young = ended(bench)
    assert list(bench.state.transactions.outcomes) == [old, young]
    bench.advance(1)
    last = ended(bench)
    assert list(bench.state.transactions.outcomes) == [young, last]
    check(bench.state)


def test_no_turn_forgets_more_than_a_few() -> None:
    bench = Bench()
    for _ in range(AT_ONCE + 5):
        ended(bench)
    bench.advance(REMEMBERED / SECOND + 1)
    ended(bench)
    (forgotten,) = [fact for fact in bench.facts if isinstance(fact, OutcomesForgotten)]
    assert len(forgotten.identifiers) == AT_ONCE
    ended(bench)
    assert len(bench.state.transactions.outcomes) == 2
    check(bench.state)

"""Tests that facts about prepared transactions and their outcomes change memory and rows alike."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import (
    EXPIRY,
    MESSAGES,
    OUTCOMES,
    POSITIONS,
    TRANSACTIONS,
    Operation,
    Outcome,
    PreparedTransaction,
)
from tests.queueing.fact_bench import BODY, FactBench
from tests.queueing.state_checks import check, every, walk

IDENTIFIER = UUID(int=5)


def prepared(made: FactBench, *positions: Position) -> facts.TransactionPrepared:
    operations = tuple(Operation("enqueue", made.orders.number, position) for position in positions)
    record = PreparedTransaction(operations, single_phase=False, prepared=0)
    return facts.TransactionPrepared(IDENTIFIER, record, tuple(BODY for _ in positions))


@pytest.mark.spec("DM-064", "DM-065", "DM-195")
def test_a_prepared_message_has_rows_is_not_counted_and_does_not_show(made: FactBench) -> None:
    made.apply(prepared(made, made.at(1, expires=50)))
    assert made.counted() == (0, 0, 0)
    assert walk(made.orders) == []
    assert len(every(made.state, POSITIONS)) == len(every(made.state, MESSAGES)) == 1
    assert every(made.state, EXPIRY) == {}
    assert every(made.state, TRANSACTIONS)[IDENTIFIER.bytes].operations[0].position == made.at(1, expires=50)


@pytest.mark.spec("DM-108")
def test_a_prepared_message_shows_once_it_is_stored(made: FactBench) -> None:
    position = made.at(1, expires=50)
    made.apply(prepared(made, position))
    made.bench.flush()
    made.apply(facts.TransactionEnded(IDENTIFIER, Outcome(committed=True, ended=1)))
    made.store(position, prepared=True)
    assert walk(made.orders) == [position]
    assert made.counted() == (1, 100, 0)
    check(made.state)


@pytest.mark.spec("DM-115")
def test_a_prepared_message_that_is_dropped_leaves_nothing(made: FactBench) -> None:
    made.apply(prepared(made, made.at(1)))
    made.bench.flush()
    made.apply(facts.TransactionEnded(IDENTIFIER, Outcome(committed=False, ended=1)))
    made.apply(facts.PreparedMessageDropped(made.orders.number, made.at(1)))
    assert made.orders.order.locked == {}
    check(made.state)
    assert every(made.state, MESSAGES) == {}


def test_an_outcome_is_kept_until_it_is_forgotten(made: FactBench) -> None:
    made.apply(prepared(made))
    outcome = Outcome(committed=True, ended=1, owner="billing", by="alice")
    made.apply(facts.TransactionEnded(IDENTIFIER, outcome))
    assert every(made.state, OUTCOMES) == {IDENTIFIER.bytes: outcome}
    assert made.state.transactions.outcomes == {IDENTIFIER: outcome}
    made.apply(facts.OutcomesForgotten((IDENTIFIER,)))
    assert not every(made.state, OUTCOMES)
    assert not made.state.transactions.outcomes

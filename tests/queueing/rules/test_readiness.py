"""Tests of QueueManagerState: the table, and what a manager answers that is not ready."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import AwaitDisk, CommitTransaction, CreateQueue, StartManager
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.rules.readiness import NEXT, ManagerEvent, advance
from tests.queueing.answers import everything
from tests.queueing.manager_harness import COMPUTER, STARTER, Bench

POSSIBLE = [case for case, after in NEXT.items() if after is not None]


def stands(bench: Bench) -> ManagerState:
    return bench.state.manager.state


@pytest.mark.spec("DM-015")
def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(ManagerState, ManagerEvent))


@pytest.mark.spec("DM-015")
@pytest.mark.parametrize("case", NEXT, ids=lambda case: f"{case[0].name} {case[1].name}")
def test_the_manager_goes_as_the_table_says(case: tuple[ManagerState, ManagerEvent]) -> None:
    bench = Bench(start=False)
    before, event = case
    bench.state.manager.state = before
    if case in POSSIBLE:
        advance(bench.state, event)
        assert stands(bench) is NEXT[case]
    else:
        with pytest.raises(UsageError, match=before.value):
            advance(bench.state, event)
        assert stands(bench) is before


def test_every_state_can_be_reached_and_left() -> None:
    assert {NEXT[case] for case in POSSIBLE} == set(ManagerState)
    assert {before for before, _ in POSSIBLE} == set(ManagerState)


@pytest.mark.spec("DM-015", "DM-099")
def test_a_start_is_answered_when_the_manager_is_ready() -> None:
    bench = Bench(start=False)
    bench.start()
    assert bench.answer_to(STARTER).status is HResult.OK
    assert stands(bench) is ManagerState.READY


def test_a_manager_is_started_once() -> None:
    bench = Bench()
    before = everything(bench.state)
    assert bench.ask(StartManager(COMPUTER, to=5)).status is HResult.INVALID_PARAMETER
    assert everything(bench.state) == before
    assert stands(bench) is ManagerState.READY


@pytest.mark.spec("DM-098", "DM-099")
def test_an_impossible_start_says_so_and_may_be_tried_again() -> None:
    bench = Bench(start=False, in_doubt_wait=-1)
    bench.start()
    assert bench.answer_to(STARTER).status is HResult.INVALID_PARAMETER
    assert stands(bench) is ManagerState.STOPPED
    assert not bench.facts
    bench.in_doubt_wait = 0
    bench.start()
    assert stands(bench) is ManagerState.READY


@pytest.mark.spec("DM-100")
def test_a_manager_that_has_stopped_takes_no_requests_and_may_be_started_again() -> None:
    bench = Bench()
    bench.send("orders", b"m1")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    for _ in range(2):
        bench.stop()
        assert stands(bench) is ManagerState.STOPPED
    refused = bench.ask(CreateQueue(0, "more"))
    assert (refused.status, refused.why) == (HResult.SERVICE_NOT_AVAILABLE, "the queue manager is stopped")
    assert bench.ask(AwaitDisk(0)).status is HResult.OK
    bench.start()
    assert bench.bodies() == [b"m1"]
    assert bench.ask(CommitTransaction(0, transaction)).status is HResult.TRANSACTION_SEQUENCE

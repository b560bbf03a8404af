"""Batches belong to those who write them, and go only where they may send."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import AccessChange, ChangeAccess
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.security.rights import MANAGER_LIST, QueueRight
from reliquary.queueing.staging.events import (
    BeginStage,
    CompleteStage,
    DropStages,
    ForgetWriter,
    PublishBatch,
)
from tests.queueing.manager_harness import Bench
from tests.queueing.security.users import ALICE, BOB, ROOT
from tests.queueing.staging.writing import begin, publish, stage
from tests.queueing.state_checks import durable


@pytest.fixture
def bench() -> Bench:
    """Return a manager whose affairs are those of administrators; alice has published one batch."""
    made = Bench()
    made.state.access.first_list = MANAGER_LIST
    publish(made, written(made), writer="w", by=ALICE)
    return made


def written(bench: Bench, batch: int = 0, part: int = 0) -> int:
    """Return a complete part of alice's."""
    number = begin(bench, batch, part, by=ALICE)
    assert stage(bench, number, b"a", by=ALICE).status is HResult.OK
    assert bench.ask(CompleteStage(0, number, by=ALICE)).status is HResult.OK
    return number


def refused(bench: Bench, request: Any, why: str) -> None:
    before = durable(bench.state)
    answer = bench.ask(request)
    assert answer.status is HResult.ACCESS_DENIED
    assert why in answer.why
    assert durable(bench.state) == before


def test_a_part_is_for_the_user_who_began_it(bench: Bench) -> None:
    mine, open_ = written(bench, 1), begin(bench, 1, 1, by=ALICE)
    why = "is another user's, and bob (S-1-5-21-1-2-3-1002) may not use it"
    before = durable(bench.state)
    assert stage(bench, open_, b"x", by=BOB).why == f"stage {open_} {why}"
    assert durable(bench.state) == before
    refused(bench, CompleteStage(0, open_, by=BOB), why)
    refused(bench, DropStages(0, (open_,), by=BOB), why)
    refused(bench, PublishBatch(0, "query of bob", 0, (mine,), by=BOB), why)
    assert bench.ask(DropStages(0, (open_,), by=ROOT)).status is HResult.OK
    assert publish(bench, mine, batch=1, by=ALICE).messages == 1


def test_a_query_is_for_the_user_who_published_first_also_after_a_restart(bench: Bench) -> None:
    bench.flush()
    bench.restart(crash=True)
    bench.state.access.first_list = MANAGER_LIST
    why = "the query query is another user's, and bob (S-1-5-21-1-2-3-1002) may not publish for it"
    refused(bench, PublishBatch(0, "query", 10**6, (), by=BOB), why)
    refused(bench, BeginStage(0, "query", 1, 0, "first", by=BOB), why)
    for by in (MANAGER, ROOT, ALICE):
        assert publish(bench, batch=0, by=by).already
    assert bench.state.staging.ledger["query"].user == str(ALICE.user)


def test_an_attempt_does_not_throw_away_anothers(bench: Bench) -> None:
    begin(bench, query="new", by=ALICE)
    refused(bench, BeginStage(0, "new", 0, 0, "first", by=BOB), "is another user's")


def test_a_name_is_taken_over_only_from_ones_own_query(bench: Bench) -> None:
    refused(bench, PublishBatch(0, "his", 0, (), "w", take_over=True, by=BOB), "the query query is another")
    assert publish(bench, query="hers", writer="w", take_over=True, by=ALICE).status is HResult.OK


def test_a_writer_that_may_not_send_stages_nothing_and_publishes_nothing(bench: Bench) -> None:
    mine = written(bench, 1)
    bench.ask(ChangeAccess(0, "orders", AccessChange.DENY, ALICE.user, int(QueueRight.WRITE_MESSAGE)))
    number = begin(bench, 1, 1, by=ALICE)
    answer = stage(bench, number, b"x", by=ALICE)
    assert answer.status is HResult.ACCESS_DENIED
    assert "lacks the right WRITE_MESSAGE on private$\\orders" in answer.why
    refused(bench, PublishBatch(0, "query", 1, (mine,), by=ALICE), "lacks the right WRITE_MESSAGE")


def test_only_who_may_change_the_manager_lets_it_forget(bench: Bench) -> None:
    refused(bench, ForgetWriter(0, query="query", by=ALICE), "lacks the right SET_MACHINE_PROPERTIES")
    assert bench.ask(ForgetWriter(0, query="query", by=ROOT)).status is HResult.OK

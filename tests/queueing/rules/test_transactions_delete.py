"""Tests of a queue that is deleted while transactions use it: no answer confirms what was undone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    AbortTransaction,
    CommitTransaction,
    DeleteQueue,
    MoveMessage,
    PrepareTransaction,
    ReceiveMessages,
)
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, walk


def commit(bench: Bench, transaction: UUID) -> HResult:
    status: HResult = bench.ask(CommitTransaction(0, transaction)).status
    return status


def abort(bench: Bench, transaction: UUID) -> HResult:
    status: HResult = bench.ask(AbortTransaction(0, transaction)).status
    return status


def prepare(bench: Bench, transaction: UUID) -> None:
    assert bench.ask(PrepareTransaction(0, transaction, single_phase=False)).status is HResult.OK


def first_of(bench: Bench, path: str = "orders") -> int:
    return walk(bench.queue(path))[0].lookup_id


USED = [
    pytest.param(lambda bench, each: bench.receive("orders", transaction=each), id="receive"),
    pytest.param(lambda bench, each: bench.send("orders", b"sent", transaction=each), id="send"),
    pytest.param(
        lambda bench, each: bench.ask(MoveMessage(0, "orders", first_of(bench), "other", each)),
        id="move from",
    ),
    pytest.param(
        lambda bench, each: bench.ask(MoveMessage(0, "source", first_of(bench, "source"), "orders", each)),
        id="move to",
    ),
]


@pytest.mark.spec("DM-154")
@pytest.mark.parametrize("use", USED)
def test_an_active_transaction_cannot_commit_without_a_queue_it_used(use: Any) -> None:
    """Its received messages left with the queue: an answer that they are received would be wrong."""
    bench = Bench("orders", "other", "source")
    bench.send("orders", b"m1", negative_journaling=True)
    bench.send("source", b"s1", b"s2")
    transaction, bystander = bench.begin(), bench.begin()
    bench.send("other", b"of the bystander", transaction=bystander)
    assert use(bench, transaction).status is HResult.OK
    bench.receive("source", transaction=transaction)
    bench.send("other", b"never", transaction=transaction)
    assert bench.ask(DeleteQueue(0, "orders")).status is HResult.OK
    assert bench.bodies("source") == [b"s1", b"s2"]
    assert bench.bodies("system$;deadletter") == [b"m1"]
    for step in (PrepareTransaction, CommitTransaction, CommitTransaction):
        answer = bench.ask(step(0, transaction))
        assert answer.status is HResult.TRANSACTION_SEQUENCE
        assert "orders was deleted" in answer.why
    assert bench.send("other", b"more", transaction=transaction).status is HResult.TRANSACTION_SEQUENCE
    assert abort(bench, transaction) is HResult.OK
    assert commit(bench, bystander) is HResult.OK
    assert bench.bodies("other") == [b"of the bystander"]
    check(bench.state)


def test_a_transaction_that_was_undone_is_forgotten_by_its_time() -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"m1")
    transaction = bench.begin(timeout=30)
    bench.receive("orders", transaction=transaction)
    waiting = bench.begin_asking(ReceiveMessages(0, "other", timeout=FOREVER_WAIT, transaction=transaction))
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.answer_to(waiting).status is HResult.TRANSACTION_SEQUENCE
    bench.advance(30)
    assert not bench.state.transactions.open
    check(bench.state)


@pytest.mark.spec("DM-154")
@pytest.mark.parametrize("end", [commit, abort])
@pytest.mark.parametrize("restarted", [True, False])
def test_a_prepared_transaction_survives_the_queues_it_used(end: Any, restarted: bool) -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"received", b"moved")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(MoveMessage(0, "orders", first_of(bench), "other", transaction))
    bench.send("orders", b"sent", transaction=transaction, negative_journaling=True)
    bench.send("other", b"stays", transaction=transaction)
    prepare(bench, transaction)
    assert bench.ask(DeleteQueue(0, "orders")).status is HResult.OK
    if restarted:
        bench.restart()
    assert end(bench, transaction) is HResult.OK
    committed = end is commit
    assert bench.bodies("other") == ([b"moved", b"stays"] if committed else [])
    assert bench.bodies("system$;deadxact") == ([b"sent"] if committed else [])
    check(bench.state)
    bench.restart()
    assert len(bench.state.queues) == 5 + 2
    check(bench.state)


def test_a_prepared_move_into_a_queue_that_is_gone_leaves_the_message_where_it_is() -> None:
    bench = Bench("orders", "other")
    (lookup_id,) = bench.send("orders", b"m1").lookup_ids
    transaction = bench.begin()
    bench.ask(MoveMessage(0, "orders", lookup_id, "other", transaction))
    prepare(bench, transaction)
    bench.ask(DeleteQueue(0, "other"))
    assert commit(bench, transaction) is HResult.OK
    assert bench.bodies() == [b"m1"]
    check(bench.state)


def test_a_commit_between_the_request_to_delete_and_its_work_loses_nothing_silently() -> None:
    bench = Bench("orders", "other")
    transaction = bench.begin()
    bench.send("orders", b"m1", transaction=transaction, negative_journaling=True)
    prepare(bench, transaction)
    bench.patient = True
    bench.ask(DeleteQueue(0, "orders"))
    assert commit(bench, transaction) is HResult.OK
    bench.go_on()
    assert bench.bodies("system$;deadxact") == [b"m1"]
    check(bench.state)

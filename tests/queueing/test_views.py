"""Transactions for people."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.time import SECOND, as_datetime
from reliquary.queueing import views
from reliquary.queueing.model.events import AbortTransaction, PrepareTransaction, SendMessages
from reliquary.queueing.model.message import Delivery, Message, size_of
from tests.queueing.manager_harness import NOON, Bench


def test_transactions_that_have_not_ended_are_shown() -> None:
    bench = Bench("orders")
    transaction = bench.begin()
    message = Message(body=b"x", delivery=Delivery.RECOVERABLE)
    bench.ask(SendMessages(0, "orders", (message,), transaction))
    (seen,) = views.transactions(bench.state)
    assert (seen.id, seen.stage, seen.begun_at) == (str(transaction), "active", as_datetime(NOON))
    assert (seen.operations, seen.bytes, seen.queues) == (1, size_of(message), ["orders"])
    assert (seen.prepared, seen.prepared_at, seen.ended_at) == (False, None, None)
    bench.advance(5)
    bench.ask(PrepareTransaction(0, transaction))
    (seen,) = views.transactions(bench.state)
    assert (seen.stage, seen.prepared) == ("prepared", True)
    assert seen.prepared_at == as_datetime(NOON + 5 * SECOND)


def test_how_a_prepared_transaction_ended_is_shown_to_those_who_ask_for_it() -> None:
    bench = Bench("orders")
    transaction = bench.begin(identifier=UUID(int=7), owner="billing")
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.ask(AbortTransaction(0, transaction, decided_by="alice"))
    assert list(views.transactions(bench.state)) == []
    (seen,) = views.transactions(bench.state, ended=True)
    assert seen == views.transaction(bench.state, transaction)
    assert (seen.stage, seen.owner, seen.ended_at, seen.decided_by) == (
        "aborted", "billing", as_datetime(NOON), "alice",
    )  # fmt: skip
    assert views.transaction(bench.state, UUID(int=8)) is None

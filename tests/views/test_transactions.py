"""Tests transactions as records, and as a noun, for one user."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, as_datetime
from reliquary.queueing.model.administration import Column
from reliquary.queueing.model.events import (
    AbortTransaction,
    BeginTransaction,
    PrepareTransaction,
    SendMessages,
)
from reliquary.queueing.model.message import Delivery, Message, size_of
from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.views.transactions import TRANSACTION, transaction, transactions
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.security.users import ALICE, BOB
from tests.views.viewing import view_of

SEVEN, EIGHT = UUID(int=7), UUID(int=8)
records = TRANSACTION.listing.records


def test_transactions_that_have_not_ended_are_shown() -> None:
    bench = Bench("orders")
    identifier = bench.begin()
    message = Message(body=b"x", delivery=Delivery.RECOVERABLE)
    bench.ask(SendMessages(0, "orders", (message,), identifier))
    (seen,) = transactions(view_of(bench.state))
    assert (seen.id, seen.stage, seen.begun_at) == (str(identifier), "active", as_datetime(NOON))
    assert (seen.operations, seen.bytes, seen.queues) == (1, size_of(message), ["orders"])
    assert (seen.prepared, seen.prepared_at, seen.ended_at) == (False, None, None)
    bench.advance(5)
    bench.ask(PrepareTransaction(0, identifier))
    (seen,) = transactions(view_of(bench.state))
    assert (seen.stage, seen.prepared) == ("prepared", True)
    assert seen.prepared_at == as_datetime(NOON + 5 * SECOND)
    printed = {
        each.head: each.value(seen) for each in TRANSACTION.listing.columns if isinstance(each, Column)
    }
    assert (printed["in doubt since"], printed["queues"]) == (seen.prepared_at.isoformat(), "orders")


def test_how_a_prepared_transaction_ended_is_shown_to_those_who_ask_for_it() -> None:
    bench = Bench("orders")
    identifier = bench.begin(identifier=UUID(int=7), owner="billing")
    bench.ask(PrepareTransaction(0, identifier, single_phase=False))
    bench.ask(AbortTransaction(0, identifier, decided_by="alice"))
    assert list(transactions(view_of(bench.state))) == []
    (seen,) = transactions(view_of(bench.state), ended=True)
    assert seen == transaction(view_of(bench.state), identifier)
    assert (seen.stage, seen.owner, seen.ended_at, seen.decided_by) == (
        "aborted", "billing", as_datetime(NOON), "alice",
    )  # fmt: skip
    assert transaction(view_of(bench.state), UUID(int=8)) is None


def test_the_owner_and_those_that_ended_are_filters() -> None:
    bench = Bench()
    for identifier, owner in ((SEVEN, "billing"), (EIGHT, "shipping")):
        bench.begin(identifier=identifier, owner=owner)
        bench.ask(PrepareTransaction(0, identifier, single_phase=False))
    bench.ask(AbortTransaction(0, EIGHT))
    view = view_of(bench.state)
    assert [each.id for each in records(view)] == [str(SEVEN)]
    assert [each.id for each in records(view, ended=True)] == [str(SEVEN), str(EIGHT)]
    assert [each.id for each in records(view, ended=True, owner="shipping")] == [str(EIGHT)]
    assert list(records(view, owner="")) == []


def test_a_transaction_is_found_by_its_id() -> None:
    bench = Bench()
    bench.begin(identifier=SEVEN)
    showing = TRANSACTION.showing
    assert showing is not None
    assert showing.parse(str(SEVEN)) == SEVEN
    with pytest.raises(UsageError, match="a GUID, not 'x'"):
        showing.parse("x")
    found = showing.record(view_of(bench.state), SEVEN)
    assert found == transaction(view_of(bench.state), SEVEN)
    assert found is not None
    assert showing.record(view_of(bench.state), EIGHT) is None


def test_each_user_sees_its_own() -> None:
    bench = Bench()
    bench.state.access.first_list = MANAGER_LIST
    bench.ask(BeginTransaction(0, identifier=SEVEN, by=ALICE))
    showing = TRANSACTION.showing
    assert showing is not None
    for by, shown in ((ALICE, 1), (BOB, 0)):
        assert len(list(records(view_of(bench.state, by)))) == shown
        assert (showing.record(view_of(bench.state, by), SEVEN) is not None) == bool(shown)

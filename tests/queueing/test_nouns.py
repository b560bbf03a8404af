"""Transactions as a noun: what is declared is what the views know, for the user who asks."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.model.events import AbortTransaction, BeginTransaction, PrepareTransaction
from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.queueing.nouns import TRANSACTION
from reliquary.queueing.views import transaction
from tests.queueing.manager_harness import Bench
from tests.queueing.staging.test_views import ALICE, BOB
from tests.queueing.viewing import view_of

SEVEN, EIGHT = UUID(int=7), UUID(int=8)
records = TRANSACTION.listing.records


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


def test_it_is_found_by_its_id() -> None:
    bench = Bench()
    bench.begin(identifier=SEVEN)
    showing = TRANSACTION.showing
    assert showing is not None
    assert showing.parse(str(SEVEN)) == SEVEN
    with pytest.raises(UsageError, match="a GUID, not 'x'"):
        showing.parse("x")
    found = showing.record(view_of(bench.state), SEVEN)
    assert found == transaction(bench.state, SEVEN)
    assert found is not None
    assert showing.record(view_of(bench.state), EIGHT) is None


def test_everybody_sees_his_own() -> None:
    bench = Bench()
    bench.state.first_list = MANAGER_LIST
    bench.ask(BeginTransaction(0, identifier=SEVEN, by=ALICE))
    showing = TRANSACTION.showing
    assert showing is not None
    for by, shown in ((ALICE, 1), (BOB, 0)):
        assert len(list(records(view_of(bench.state, by)))) == shown
        assert (showing.record(view_of(bench.state, by), SEVEN) is not None) == bool(shown)

"""Queues as a noun: what is declared is what the views know, for the user who asks."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.client.queue_noun import QUEUE
from reliquary.client.translate import queue_info
from reliquary.engine import views
from reliquary.queueing.model.administration import Column, Refusal
from reliquary.queueing.model.security.principals import ANONYMOUS
from tests.queueing.feed.test_views import close
from tests.queueing.manager_harness import Bench
from tests.queueing.viewing import view_of


def test_queues_are_listed_and_found_by_name() -> None:
    bench = Bench("orders", "bills")
    listed = list(QUEUE.listing.records(view_of(bench.state)))
    assert listed == [queue_info(each) for each in views.queues(bench.state)]
    assert {"orders", "bills"} <= {each.name for each in listed}
    assert QUEUE.showing is not None
    [orders] = [each for each in listed if each.name == "orders"]
    assert QUEUE.showing.record(view_of(bench.state), "orders") == orders
    assert QUEUE.showing.record(view_of(bench.state), "nothing") is None


def test_what_a_user_may_not_see_is_left_out_and_refused() -> None:
    bench = Bench("orders", "bills")
    close(bench, "orders")
    stranger = view_of(bench.state, ANONYMOUS)
    names = {each.name for each in QUEUE.listing.records(stranger)}
    assert "bills" in names
    assert "orders" not in names
    assert QUEUE.showing is not None
    with pytest.raises(Refusal, match="GET_QUEUE_PROPERTIES") as why:
        QUEUE.showing.record(stranger, "orders")
    assert why.value.status is HResult.ACCESS_DENIED


def test_a_person_reads_the_settings_beside_the_other_fields() -> None:
    bench = Bench()
    bench.create("fresh", label="urgent")
    assert QUEUE.showing is not None
    info = QUEUE.showing.record(view_of(bench.state), "fresh")
    assert info is not None
    shown = {each.head: each.value(info) for each in QUEUE.showing.fields if isinstance(each, Column)}
    assert (shown["label"], shown["journaling"], shown["copies_lost"]) == ("urgent", False, None)
    assert "settings" not in QUEUE.showing.fields

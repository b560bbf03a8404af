"""Tests queues as records, and as a noun, for one user."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model.administration import Column, Refusal
from reliquary.queueing.model.events import Access, CreateQueue, DeleteQueue, OpenQueue, ReceiveMessages
from reliquary.queueing.model.message import Message, size_of
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES
from reliquary.queueing.model.queue import QueueSettings, QueueType
from reliquary.queueing.model.security.principals import ANONYMOUS
from reliquary.views import queues as views
from reliquary.views.manager import manager_view
from reliquary.views.outgoing_queues import outgoing_queues
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import Bench
from tests.views.test_consumers import close
from tests.views.viewing import view_of


def test_a_queue_is_shown_with_what_it_holds_and_who_uses_it() -> None:
    bench = Bench("orders")
    bench.ask(OpenQueue(0, "orders", Access.SEND))
    bench.send("orders", b"one", b"two", b"three")
    bench.receive("orders", hold=60)
    view = views.queue(bench.state, "orders")
    assert view is not None
    assert (view.name, view.pathname, view.kind) == (
        "orders",
        "BENCH\\private$\\orders",
        QueueType.PRIVATE.value,
    )
    assert (view.messages, view.locked) == (2, 1)
    assert view.bytes == sum(size_of(Message(body=body)) for body in (b"one", b"two", b"three"))
    assert (view.open_handles, view.readers_waiting) == (2, 0)
    assert view.settings == views.Settings()
    assert str(UUID(view.id)) == view.id


def test_readers_who_wait_are_counted() -> None:
    bench = Bench("orders")
    bench.begin_asking(ReceiveMessages(0, "orders", timeout=seconds(5)))
    view = views.queue(bench.state, "orders")
    assert view is not None
    assert view.readers_waiting == 1


def test_an_unknown_queue_has_no_view() -> None:
    assert views.queue(Bench("orders").state, "nothing") is None


def test_all_queues_are_listed_by_name_without_journals_and_those_that_go() -> None:
    bench = Bench("orders", "Alpha", "orders;retry", ".\\public", "gone")
    bench.patient = True
    bench.ask(DeleteQueue(0, "gone"))
    names = [view.name for view in views.queues(bench.state)]
    assert names[:4] == ["Alpha", "orders", "orders;retry", "public"]
    assert names[4:] == [f"system$;{name}" for name in sorted(SYSTEM_QUEUES)]


def test_outgoing_queues_are_listed_and_counted_apart() -> None:
    exchange = Exchange()
    before = manager_view(exchange.state).queues
    exchange.send(ELSEWHERE, b"one")
    assert ELSEWHERE not in [view.name for view in views.queues(exchange.state)]
    assert [view.destination for view in outgoing_queues(exchange.state)] == [ELSEWHERE]
    assert manager_view(exchange.state).queues == before
    assert manager_view(exchange.state).messages == 1


def test_a_queue_that_was_just_created_can_be_seen() -> None:
    bench = Bench("orders")
    bench.ask(CreateQueue(0, "new", QueueSettings(label="fresh")))
    view = views.queue(bench.state, "new")
    assert view is not None
    assert (view.messages, view.settings.label) == (0, "fresh")


def test_queues_are_listed_and_found_by_name() -> None:
    bench = Bench("orders", "bills")
    listed = list(views.QUEUE.listing.records(view_of(bench.state)))
    assert listed == list(views.queues(bench.state))
    assert {"orders", "bills"} <= {each.name for each in listed}
    assert views.QUEUE.showing is not None
    [orders] = [each for each in listed if each.name == "orders"]
    assert views.QUEUE.showing.record(view_of(bench.state), "orders") == orders
    assert views.QUEUE.showing.record(view_of(bench.state), "nothing") is None


def test_what_a_user_may_not_see_is_left_out_and_refused() -> None:
    bench = Bench("orders", "bills")
    close(bench, "orders")
    stranger = view_of(bench.state, ANONYMOUS)
    names = {each.name for each in views.QUEUE.listing.records(stranger)}
    assert "bills" in names
    assert "orders" not in names
    assert views.QUEUE.showing is not None
    with pytest.raises(Refusal, match="GET_QUEUE_PROPERTIES") as why:
        views.QUEUE.showing.record(stranger, "orders")
    assert why.value.status is HResult.ACCESS_DENIED


def test_the_settings_are_shown_beside_the_other_fields() -> None:
    bench = Bench()
    bench.create("fresh", label="urgent")
    assert views.QUEUE.showing is not None
    info = views.QUEUE.showing.record(view_of(bench.state), "fresh")
    assert info is not None
    shown = {each.head: each.value(info) for each in views.QUEUE.showing.fields if isinstance(each, Column)}
    assert (shown["label"], shown["journaling"], shown["copies_lost"]) == ("urgent", False, None)
    assert "settings" not in views.QUEUE.showing.fields

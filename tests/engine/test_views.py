"""Pictures of the queue manager for people."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.time import SECOND, seconds
from reliquary.engine import views
from reliquary.queueing.feed.events import LookAtFeeds, MoveConsumer, OpenConsumer
from reliquary.queueing.model.events import (
    Access,
    CreateQueue,
    DeleteQueue,
    FlowControl,
    OpenQueue,
    PrepareTransaction,
    ReceiveMessages,
    TakeOffline,
)
from reliquary.queueing.model.message import Message, size_of
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES
from reliquary.queueing.model.queue import ManagerState, QueueSettings, QueueType
from reliquary.queueing.travel.views import outgoing_queues
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import NOON, OPEN_LIST, Bench


def test_a_queue_is_shown_with_what_it_holds_and_who_uses_it() -> None:
    bench = Bench("orders")
    bench.ask(OpenQueue(0, "orders", Access.SEND))
    bench.send("orders", b"one", b"two", b"three")
    bench.receive("orders", hold=60)
    view = views.queue(bench.state, "orders")
    assert view is not None
    assert (view.name, view.pathname, view.kind) == ("orders", "BENCH\\private$\\orders", QueueType.PRIVATE)
    assert (view.messages, view.locked) == (2, 1)
    assert view.bytes == sum(size_of(Message(body=body)) for body in (b"one", b"two", b"three"))
    assert (view.open_handles, view.readers_waiting) == (2, 0)
    assert view.settings == QueueSettings(security=OPEN_LIST)
    assert str(UUID(view.identifier)) == view.identifier


def test_readers_who_wait_are_counted() -> None:
    bench = Bench("orders")
    bench.begin_asking(ReceiveMessages(0, "orders", timeout=seconds(5)))
    view = views.queue(bench.state, "orders")
    assert view is not None
    assert view.readers_waiting == 1


def test_an_unknown_queue_is_none() -> None:
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
    before = views.manager(exchange.state).queues
    exchange.send(ELSEWHERE, b"one")
    assert ELSEWHERE not in [view.name for view in views.queues(exchange.state)]
    assert [view.destination for view in outgoing_queues(exchange.state)] == [ELSEWHERE]
    assert views.manager(exchange.state).queues == before
    assert views.manager(exchange.state).messages == 1


def test_the_manager_is_shown_with_its_totals() -> None:
    bench = Bench("orders", quota=500)
    bench.send("orders", b"one", b"two")
    bench.receive("orders", hold=60)
    bench.begin()
    prepared = bench.begin()
    bench.ask(PrepareTransaction(0, prepared))
    view = views.manager(bench.state)
    assert (view.computer_name, view.quota_kilobytes, view.messages) == ("BENCH", 500, 2)
    assert view.queues == len(list(views.queues(bench.state)))
    assert (view.transactions_active, view.transactions_prepared, view.copies_lost) == (1, 1, {})
    assert view.bytes == bench.state.total_bytes > 0


def test_a_queue_that_was_just_created_can_be_seen() -> None:
    bench = Bench("orders")
    bench.ask(CreateQueue(0, "new", QueueSettings(label="fresh")))
    view = views.queue(bench.state, "new")
    assert view is not None
    assert (view.messages, view.settings.label) == (0, "fresh")


def test_the_manager_says_whether_it_takes_and_sends_messages() -> None:
    bench = Bench("orders")
    assert (views.manager(bench.state).online, views.manager(bench.state).throttled) == (True, False)
    bench.ask(TakeOffline(0))
    bench.handle(FlowControl(throttled=True))
    view = views.manager(bench.state)
    assert (view.state, view.online, view.throttled) == (ManagerState.READY, False, True)


def test_readers_of_feeds_are_shown_with_what_is_kept_for_them() -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"before")
    for queue, name in (("orders", "lake"), ("orders", "audit"), ("system$;journal", "lake")):
        bench.ask(OpenConsumer(0, queue, name))
    bench.send("orders", b"x", b"y")
    bench.receive("orders", count=2)
    bench.ask(LookAtFeeds(0, ("orders",)))
    bench.advance(5)
    bench.ask(MoveConsumer(0, "orders", "lake", bench.state.sequence))
    seen = list(views.consumers(bench.state))
    assert [(each.queue, each.name) for each in seen] == [
        ("orders", "audit"), ("orders", "lake"), ("system$;journal", "lake"),
    ]  # fmt: skip
    assert seen[:2] == list(views.consumers(bench.state, "orders"))
    assert list(views.consumers(bench.state, "nowhere")) == list(views.consumers(bench.state, "other")) == []
    audit, lake = seen[:2]
    assert (audit.messages_retained, audit.bytes_retained) == (1, size_of(Message(body=b"x")))
    assert (audit.lag, lake.lag) == (2, 0)
    assert (lake.created, lake.moved) == (NOON, NOON + 5 * SECOND)
    view = views.queue(bench.state, "orders")
    assert view is not None
    assert (view.messages, view.messages_retained, view.bytes_retained) == (1, 1, audit.bytes_retained)
    whole = views.manager(bench.state)
    assert (whole.messages, whole.messages_retained, whole.bytes_retained) == (1, 1, audit.bytes_retained)

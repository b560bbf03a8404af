"""Tests readers of feeds as records, and as a noun, for one user."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, as_text
from reliquary.queueing.feed.events import LookAtFeeds, MoveConsumer, OpenConsumer, SetConsumer
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import AccessChange, ChangeAccess
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import Message, size_of
from reliquary.queueing.model.security.principals import ANONYMOUS
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.views.consumers import CONSUMER, ConsumerInfo, LossInfo, all_consumers, consumers
from reliquary.views.manager import manager_view
from reliquary.views.queues import queue
from tests.queueing.manager_harness import NOON, Bench
from tests.views.viewing import view_of


def close(bench: Bench, queue: str) -> None:
    """Let unknown users do nothing with a queue."""
    bench.ask(ChangeAccess(0, queue, AccessChange.DENY, ANONYMOUS.user, int(QueueRight.GENERIC_ALL)))


def test_a_consumer_is_shown_with_how_far_it_came_and_when() -> None:
    bench = Bench("orders")
    for name in ("lake", "audit"):
        bench.ask(OpenConsumer(0, "orders", name, at=0))
    bench.send("orders", b"x")
    bench.ask(LookAtFeeds(0, ("orders",)))
    bench.advance(5)
    mark = bench.state.numbers.sequence
    bench.ask(MoveConsumer(0, "orders", "lake", mark))
    began, later = as_text(NOON), as_text(NOON + 5 * SECOND)
    assert list(consumers(view_of(bench.state), "orders")) == [
        shown(name="audit", cursor="0", created=began, moved=began),
        shown(name="lake", cursor=str(mark), created=began, moved=later),
    ]


def shown(**fields: Any) -> ConsumerInfo:
    """Return a consumer without a limit that lost nothing."""
    usual: dict[str, Any] = {
        "keep": "none",
        "keep_of": "settings",
        "paused": False,
        "lost": 0,
        "lost_bytes": 0,
        "loss": None,
    }
    return ConsumerInfo(**usual | fields)


def test_a_consumer_is_shown_with_its_limit_and_what_it_lost() -> None:
    bench = Bench("orders")
    cursor = bench.ask(OpenConsumer(0, "orders", "lake")).cursor
    bench.ask(SetConsumer(0, "orders", keep=Keep(count=1)))
    bench.send("orders", b"x", b"y")
    bench.receive("orders", count=2)
    [lake] = consumers(view_of(bench.state), "orders")
    assert (lake.keep, lake.keep_of, lake.lost, lake.lost_bytes) == (
        "1",
        "queue",
        1,
        size_of(Message(body=b"x")),
    )
    assert lake.loss == LossInfo(
        after=str(cursor), until=lake.cursor, messages=1, bytes=lake.lost_bytes, moment=as_text(NOON)
    )
    bench.ask(SetConsumer(0, "orders", "lake", Keep(count=9), paused=True))
    [lake] = consumers(view_of(bench.state), "orders")
    assert (lake.keep, lake.keep_of, lake.paused) == ("9", "consumer", True)
    [seen] = all_consumers(bench.state)
    assert (seen.lost, seen.paused) == (1, True)


def test_a_loss_is_shown_until_its_reader_has_read_on() -> None:
    bench = Bench("orders")
    bench.ask(OpenConsumer(0, "orders", "lake"))
    bench.ask(SetConsumer(0, "orders", keep=Keep(count=1)))
    bench.send("orders", b"x", b"y")
    bench.receive("orders", count=2)
    [lost] = all_consumers(bench.state)
    assert lost.loss is not None
    assert lost.loss.messages == 1
    bench.ask(LookAtFeeds(0, ("orders",)))
    bench.ask(MoveConsumer(0, "orders", "lake", bench.state.numbers.sequence))
    [read] = all_consumers(bench.state)
    assert (read.lost, read.loss) == (1, None)


def test_a_queue_that_is_not_there_or_may_not_be_read_is_refused() -> None:
    bench = Bench("orders")
    with pytest.raises(Refusal, match="there is no queue nowhere") as why:
        list(consumers(view_of(bench.state), "nowhere"))
    assert why.value.status is HResult.QUEUE_NOT_FOUND
    close(bench, "orders")
    with pytest.raises(Refusal, match="PEEK_MESSAGE") as why:
        list(consumers(view_of(bench.state, ANONYMOUS), "orders"))
    assert why.value.status is HResult.ACCESS_DENIED
    assert list(consumers(view_of(bench.state), "orders")) == []


def test_the_consumers_of_one_queue_are_listed() -> None:
    bench = Bench("orders", "other")
    for path in ("orders", "other"):
        bench.ask(OpenConsumer(0, path, f"{path} lake"))
    [listed] = CONSUMER.listing.records(view_of(bench.state), queue="orders")
    assert listed.name == "orders lake"
    assert [listed] == list(consumers(view_of(bench.state), "orders"))


def test_the_user_of_the_view_must_have_the_right_to_look() -> None:
    bench = Bench("orders")
    close(bench, "orders")
    with pytest.raises(Refusal):
        list(CONSUMER.listing.records(view_of(bench.state, ANONYMOUS), queue="orders"))


def test_readers_of_feeds_are_shown_with_what_is_kept_for_them() -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"before")
    for path, name in (("orders", "lake"), ("orders", "audit"), ("system$;journal", "lake")):
        bench.ask(OpenConsumer(0, path, name))
    bench.send("orders", b"x", b"y")
    bench.receive("orders", count=2)
    bench.ask(LookAtFeeds(0, ("orders",)))
    bench.advance(5)
    bench.ask(MoveConsumer(0, "orders", "lake", bench.state.numbers.sequence))
    seen = list(all_consumers(bench.state))
    assert [(each.queue, each.name) for each in seen] == [
        ("orders", "audit"), ("orders", "lake"), ("system$;journal", "lake"),
    ]  # fmt: skip
    audit, lake = seen[:2]
    assert (audit.messages_retained, audit.bytes_retained) == (1, size_of(Message(body=b"x")))
    assert (audit.lag, lake.lag) == (2, 0)
    assert (lake.created, lake.moved) == (NOON, NOON + 5 * SECOND)
    view = queue(bench.state, "orders")
    assert view is not None
    assert (view.messages, view.messages_retained, view.bytes_retained) == (1, 1, audit.bytes_retained)
    whole = manager_view(bench.state)
    assert (whole.messages, whole.messages_retained, whole.bytes_retained) == (1, 1, audit.bytes_retained)

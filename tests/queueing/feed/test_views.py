"""Who reads the feed of a queue, for people."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, as_text
from reliquary.queueing.feed.events import LookAtFeeds, MoveConsumer, OpenConsumer
from reliquary.queueing.feed.nouns import ConsumerInfo
from reliquary.queueing.feed.views import consumers
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import AccessChange, ChangeAccess
from reliquary.queueing.model.security.principals import ANONYMOUS
from reliquary.queueing.model.security.rights import QueueRight
from tests.queueing.manager_harness import NOON, Bench


def close(bench: Bench, queue: str) -> None:
    """Let strangers do nothing with a queue."""
    bench.ask(ChangeAccess(0, queue, AccessChange.DENY, ANONYMOUS.user, int(QueueRight.GENERIC_ALL)))


def test_a_consumer_is_shown_with_how_far_it_came_and_when() -> None:
    bench = Bench("orders")
    for name in ("lake", "audit"):
        bench.ask(OpenConsumer(0, "orders", name, at=0))
    bench.send("orders", b"x")
    bench.ask(LookAtFeeds(0, ("orders",)))
    bench.advance(5)
    mark = bench.state.sequence
    bench.ask(MoveConsumer(0, "orders", "lake", mark))
    began, later = as_text(NOON), as_text(NOON + 5 * SECOND)
    assert list(consumers(bench.state, "orders")) == [
        ConsumerInfo(name="audit", cursor="0", created=began, moved=began),
        ConsumerInfo(name="lake", cursor=str(mark), created=began, moved=later),
    ]


def test_a_queue_that_is_not_there_or_may_not_be_read_is_refused() -> None:
    bench = Bench("orders")
    with pytest.raises(Refusal, match="there is no queue nowhere") as why:
        list(consumers(bench.state, "nowhere"))
    assert why.value.status is HResult.QUEUE_NOT_FOUND
    close(bench, "orders")
    with pytest.raises(Refusal, match="PEEK_MESSAGE") as why:
        list(consumers(bench.state, "orders", ANONYMOUS))
    assert why.value.status is HResult.ACCESS_DENIED
    assert list(consumers(bench.state, "orders")) == []

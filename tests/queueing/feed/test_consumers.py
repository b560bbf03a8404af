"""Tests of consumers: their names, their cursors, and what a restart keeps of them."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.feed.consumers import CONSUMER_LIMIT, NAME_LIMIT, check_consumer
from reliquary.queueing.model.tables import CONSUMERS, Consumer
from tests.queueing.feed.harness import dropped, moved, opened
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import every


def test_the_lowest_cursor_decides_which_messages_are_kept() -> None:
    bench = Bench()
    bench.send("orders", *[b"x"] * 9)
    opened(bench, name="one")
    opened(bench, name="two", at=3)
    assert bench.queue().feed.pinned == 3
    moved(bench, 5, name="two")
    assert bench.queue().feed.pinned == 5
    dropped(bench, name="two")
    assert bench.queue().feed.pinned == 9
    dropped(bench, name="one")
    assert (bench.queue().feed.pinned, bench.queue().feed.mark) == (0, 0)
    assert every(bench.state, CONSUMERS) == {}


def test_the_number_of_consumers_of_a_queue_is_limited() -> None:
    queue = Bench().queue()
    queue.feed.consumers = {str(each): Consumer(0, 0, 0) for each in range(CONSUMER_LIMIT)}
    with pytest.raises(UsageError, match="at most 1000 consumers"):
        check_consumer(queue, "one more")


@pytest.mark.parametrize("name", ["", "x" * (NAME_LIMIT + 1), "a\nb"])
def test_a_forbidden_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="the name of a consumer"):
        check_consumer(Bench().queue(), name)

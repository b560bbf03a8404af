"""The blocking queues offer every method of the asynchronous ones."""

from __future__ import annotations

from reliquary import AsyncQueue, Queue
from reliquary.client.queue import AsyncOpenQueue
from reliquary.client.sync.queue import OpenQueue
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    found = differences(Queue, AsyncQueue, inside={"inside", "pages"})
    assert found == ["name"]  # an attribute there, a property here


def test_an_open_queue_is_too() -> None:
    inside = {"inside", "pages", "handle", "open_now", "close"}
    assert differences(OpenQueue, AsyncOpenQueue, inside=inside) == ["name"]

"""The blocking consumer offers every method of the asynchronous one."""

from __future__ import annotations

from reliquary.client.consumer import AsyncConsumer
from reliquary.client.sync.consumer import Consumer
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    assert differences(Consumer, AsyncConsumer, inside={"take", "fetch", "leave", "close"}) == []

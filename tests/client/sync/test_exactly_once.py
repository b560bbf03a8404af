"""Exactly once without `await`; what it does is shown beside the async one."""

from __future__ import annotations

from reliquary.client.exactly_once import AsyncExactlyOnce, AsyncStep
from reliquary.client.sync.exactly_once import ExactlyOnce, Step
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    assert differences(ExactlyOnce, AsyncExactlyOnce, inside={"begin", "end", "undo"}) == []
    assert differences(Step, AsyncStep, inside=set()) == []

"""The blocking transaction offers every method of the asynchronous one."""

from __future__ import annotations

from reliquary import AsyncTransaction, Transaction
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    assert differences(Transaction, AsyncTransaction, inside={"begin", "join", "part", "end"}) == []

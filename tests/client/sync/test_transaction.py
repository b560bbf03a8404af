"""The blocking transaction offers every method of the asynchronous one."""

from __future__ import annotations

from reliquary import AsyncTransaction, Transaction
from tests.client.sync.mirror import differences


def test_it_is_the_image_of_the_async_one() -> None:
    assert differences(Transaction, AsyncTransaction, inside={"begin", "join", "part", "end"}) == []

"""The blocking cursor offers every method of the asynchronous one."""

from __future__ import annotations

from reliquary.client.cursor import AsyncCursor
from reliquary.client.sync.cursor import Cursor
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    assert differences(Cursor, AsyncCursor, inside={"id", "open", "close"}) == []

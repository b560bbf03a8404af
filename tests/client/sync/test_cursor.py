"""The blocking cursor offers every method of the asynchronous one."""

from __future__ import annotations

from reliquary.client.cursor import AsyncCursor
from reliquary.client.sync.cursor import Cursor
from tests.client.sync.mirror import differences


def test_it_is_the_image_of_the_async_one() -> None:
    assert differences(Cursor, AsyncCursor, inside={"id", "open", "close"}) == []

"""Tests how a block is left."""

from __future__ import annotations

import asyncio

import pytest

from reliquary import NotOpen, QueueDeleted
from reliquary.client.leaving import let_go


async def gone() -> None:
    raise NotOpen("INVALID_HANDLE", "closed by itself")


async def wrong() -> None:
    raise QueueDeleted("QUEUE_NOT_AVAILABLE", "deleted")


def test_an_object_that_closed_by_itself_is_closed() -> None:
    asyncio.run(let_go(gone, None))


def test_a_failure_to_close_is_reported_unless_the_block_failed_too() -> None:
    with pytest.raises(QueueDeleted):
        asyncio.run(let_go(wrong, None))
    news = ZeroDivisionError()
    asyncio.run(let_go(wrong, news))
    assert news.__notes__ == ["and then: deleted"]

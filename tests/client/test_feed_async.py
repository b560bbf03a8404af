"""Tests of the awaited requests about consumers of feeds, on a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Event

import pytest

from reliquary.client.errors import ReliquaryError
from reliquary.client.feed_async import AsyncFeedClient
from reliquary.client.sync.manager import connect
from tests.client.served import served


def test_a_consumer_is_opened_limited_paused_resumed_reset_and_dropped(tmp_path: Path) -> None:
    with served(tmp_path / "store") as server:
        with connect(server.data, control=server.control) as manager:
            manager.create_queue("orders")
            manager.queue("orders").send_many(["a", "b", "c"])
        asyncio.run(_steer(server.data))


async def _steer(url: str) -> None:
    async with AsyncFeedClient(url) as feeds:
        assert (await feeds.open_consumer("orders", "lake", "earliest")).cursor == 0
        await feeds.set_consumer("orders", "lake", keep="7d,5000")
        await feeds.pause_consumer("orders", "lake")
        [paused] = await feeds.consumers("orders")
        assert (paused.name, paused.paused) == ("lake", True)
        assert "5000" in paused.keep
        await feeds.resume_consumer("orders", "lake")
        would = await feeds.reset_consumer("orders", "lake", "latest", dry_run=True)
        assert would.messages == 3
        assert await feeds.place_of("orders", 2**61) == would.cursor
        # several at once: they are made one after the other
        looks = [feeds.feeds(["orders"], "lake") for _ in range(5)]
        for [feed] in await asyncio.gather(*looks):
            assert feed.cursor == 0
            assert not feed.paused
        done = await feeds.reset_consumer("orders", "lake", "latest")
        assert done.cursor == would.cursor
        [feed] = await feeds.feeds(["orders"], "lake")
        assert feed.cursor == done.cursor
        await feeds.drop_consumer("orders", "lake")
        assert await feeds.consumers("orders") == []
        with pytest.raises(ReliquaryError, match="has no consumer 'lake'"):
            await feeds.pause_consumer("orders", "lake")


def test_a_request_that_is_cancelled_ends_before_the_next_one_begins() -> None:
    begun, go, ended = Event(), Event(), list[str]()

    def slow() -> None:
        begun.set()
        go.wait()
        ended.append("first")

    async def cancel() -> None:
        feeds = AsyncFeedClient("http://127.0.0.1:1")
        first = asyncio.ensure_future(feeds._run(slow))
        await asyncio.to_thread(begun.wait)
        second = asyncio.ensure_future(feeds._run(ended.append, "second"))
        first.cancel()
        go.set()
        await second
        with pytest.raises(asyncio.CancelledError):
            await first

    asyncio.run(cancel())
    assert ended == ["first", "second"]

"""Consumers of feeds for applications with asyncio: each call runs a call of `FeedClient` in a thread.

    async with AsyncFeedClient("http://localhost:8480") as feeds:
        await feeds.set_consumer("orders", "lake", keep="7d")
        await feeds.pause_consumer("orders", "lake")

Requests of one client are made one after the other, because a `FeedClient` is for one thread at a time.  Rows
of feeds are read, and batches are published, with `FeedClient` only: Spark's tasks use no asyncio.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Literal, ParamSpec, Self, TypeVar, Unpack

from reliquary.client.feed import Consumer, Feed, FeedClient, FeedOptions, Reset

P = ParamSpec("P")
R = TypeVar("R")


class AsyncFeedClient:
    """Administers the feeds of one server and their consumers."""

    def __init__(
        self,
        url: str,
        **options: Unpack[FeedOptions],
    ) -> None:
        """The parameters are those of `FeedClient`."""
        self._client = FeedClient(url, **options)
        self._one_at_a_time = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; a later request opens a new one."""
        await self._run(self._client.close)

    async def feeds(self, match: Sequence[str], consumer: str = "") -> list[Feed]:
        """Return the feeds of the queues that these names or patterns find."""
        return await self._run(self._client.feeds, match, consumer)

    async def consumers(self, queue: str) -> list[Consumer]:
        """Return the consumers of a feed."""
        return await self._run(self._client.consumers, queue)

    async def open_consumer(self, queue: str, name: str, at: int | Literal["earliest", "latest"]) -> Feed:
        """Create a consumer, whose unread messages are kept; an existing consumer is not changed."""
        return await self._run(self._client.open_consumer, queue, name, at)

    async def set_consumer(self, queue: str, name: str = "", *, keep: str) -> None:
        """Limit what is kept for a consumer (`7d`, `10g`, `5000`, `7d,10g`, `none`, `inherit`).

        Without a name, the limit is for all consumers of the queue that have none of their own.
        """
        await self._run(self._client.set_consumer, queue, name, keep=keep)

    async def pause_consumer(self, queue: str, name: str) -> None:
        """Pause a consumer: its queries plan no new batches until it is resumed."""
        await self._run(self._client.set_consumer, queue, name, paused=True)

    async def resume_consumer(self, queue: str, name: str) -> None:
        """Resume a consumer that was paused."""
        await self._run(self._client.set_consumer, queue, name, paused=False)

    async def reset_consumer(self, queue: str, name: str, to: int | str, *, dry_run: bool = False) -> Reset:
        """Move a cursor forward or back: to `earliest`, `latest`, a number or a time (RFC 3339)."""
        return await self._run(self._client.reset_consumer, queue, name, to, dry_run=dry_run)

    async def place_of(self, queue: str, moment: int, incarnation: str = "") -> int:
        """Return the place before the first message that arrived at a time (microseconds since 1970) or
        later, or the mark.
        """
        return await self._run(self._client.place_of, queue, moment, incarnation)

    async def drop_consumer(self, queue: str, name: str) -> None:
        """Drop a consumer; messages that were kept only for it are removed."""
        await self._run(self._client.drop_consumer, queue, name)

    async def _run(self, call: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """Run a request in a thread; if the caller is cancelled, wait until the request has ended."""
        async with self._one_at_a_time:
            running = asyncio.ensure_future(asyncio.to_thread(call, *arguments, **named))
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                await asyncio.wait([running])
                raise

"""A link whose peer is a list of bytes: what it wrote is kept, what it reads is given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from bench.load import Settings
from bench.peers.link import Link
from tests.net.http.harness import tick


class Transport:
    """Keeps what was written, in place of sending it."""

    def __init__(self) -> None:
        self.written = bytearray()

    def write(self, data: bytes) -> None:
        self.written += data

    def abort(self) -> None:
        pass


def linked(kind: type[Link], in_flight: int = 1, queue: str = "orders") -> tuple[Any, Transport]:
    """Return a link without a network, and its transport."""
    settings = Settings("host", 1, queue, producers=1, in_flight=in_flight, consumers=1, seconds=1)
    link, transport = kind(settings), Transport()
    link.connection_made(cast(asyncio.BaseTransport, transport))
    return link, transport


def answered(link: Link, request: Callable[[], Awaitable[Any]], *answers: bytes) -> Any:
    """Return the result of a command; its peer answers octet by octet after the command was written."""

    async def scene() -> Any:
        asked = asyncio.ensure_future(request())
        for answer in answers:
            await tick()
            for octet in answer:
                link.data_received(bytes([octet]))
        return await asked

    return asyncio.run(scene())

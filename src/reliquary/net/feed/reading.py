"""Sends a range of a feed, which is made while it is sent: GET /queues/{queue}/feed.

    loop     ReadFeed --> page --> ReadFeed --> page ...     some thousand positions a turn
    thread        '---------------------'--> columns ...     of two pages, while the next are read
    client                 '--> taken      '--> taken        one batch of rows is on its way at a time

An answer that cannot be completed is cut off, so that no client takes a partial range for a complete one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

from reliquary.base.faults import UsageError
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.limits import Digits
from reliquary.net.api.operations import Query, names_of, operation
from reliquary.net.feed.asking import Conversations, CutOff, NotOk
from reliquary.net.feed.columns_out import END, Columns
from reliquary.net.feed.stored_messages import Record, Stored
from reliquary.net.feed.values import BOUNDS, Bounds, bounds_of, number_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.feed.events import FeedRead, ReadFeed
from reliquary.queueing.feed.plain import joined
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.model.state import State

ARROW: Final = b"application/vnd.apache.arrow.stream"
RUNS: Final = "runs"
"""The encoding for readers that accept runs of equal values (`columns_out`)."""
COMPRESSIONS: Final = ("lz4", "zstd")
"""The methods by which Arrow compresses the buffers of a record batch."""
PAGE: Final = 4096
"""The positions that one turn reads."""


_QUERY: Final = (
    Query(name="after", kind=Digits, required=True, help="The range begins behind this number."),
    Query(name="until", kind=Digits, required=True, help="The range ends with this number."),
    Query(name="columns", help="Names of columns with commas between them; without it, all."),
    Query(name="consumer", help="The consumer that reads."),
    Query(name="incarnation", help="Refuse another queue of this name."),
    Query(name="encoding", kind=Literal["runs"], help="Runs of equal values for columns that repeat."),
    Query(name="compression", kind=Literal["lz4", "zstd"], help="Compress the buffers of record batches."),
    *(Query(name=name, kind=Digits, help="Leave out what is beyond them.") for name in BOUNDS),
)


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a feed that a request names, and its user."""

    queue: str
    after: int
    until: int
    consumer: str
    incarnation: str
    bounds: Bounds
    by: Principal


class Pages(NamedTuple):
    """Pages of a feed that were read one after the other."""

    positions: Sequence[Position]
    messages: Mapping[int, Record]
    """Messages that were read with the positions, by their numbers."""
    reached: int | None
    """The beginning of the next page; None at the end of the range."""


class Readings:
    """Answers requests for ranges of feeds."""

    def __init__(self, conversations: Conversations, state: State, stored: Stored) -> None:
        self._conversations = conversations
        self._state = state
        self._stored = stored

    @operation("Read a range of a feed as an Arrow stream", query=_QUERY, answers=(ARROW.decode(),))
    def read(self, context: Context, request: Request, responder: Responder, queue: str) -> None:
        """Answer GET /queues/{queue}/feed with a range as an Arrow stream."""
        query = parameters(request, *names_of(_QUERY))
        if query.get("encoding", RUNS) != RUNS:
            raise UsageError(f"encoding is {RUNS}, or not given, not {query['encoding'][:40]!r}")
        compression = query.get("compression")
        if compression not in (None, *COMPRESSIONS):
            allowed = ", ".join(COMPRESSIONS)
            raise UsageError(f"compression is {allowed}, or not given, not {compression[:40]!r}")
        for name in ("after", "until"):
            if name not in query:
                raise UsageError(f"{name} is missing: a range is what came after one number, until another")
        asked = Range(
            queue,
            number_of("after", query["after"]),
            number_of("until", query["until"]),
            query.get("consumer", ""),
            query.get("incarnation", ""),
            bounds_of(query),
            context.engine.by,
        )
        given = query.get("columns", "")
        names = [name.strip() for name in given.split(",")] if given else []
        columns = Columns(
            names,
            queue,
            self._stored,
            may_miss=not asked.consumer,
            runs="encoding" in query,
            compression=compression,
        )
        alone = request.method == "HEAD"
        self._conversations.start(
            responder,
            f"the feed of {queue}",
            lambda: self._answer(responder, asked, columns, alone=alone),
        )

    async def _answer(self, responder: Responder, asked: Range, columns: Columns, *, alone: bool) -> None:
        """Send a range of a feed; with `alone`, send only the head."""
        page = await self._page(asked, asked.after, with_messages=columns.touches)
        found = self._state.queues.get(page.queue)
        if found is not None:
            columns.queue = short_path(found.record.pathname)
        responder.begin(200, ARROW)
        if not alone:
            responder.write(columns.opening())
            async with aclosing(self._pieces(asked, columns, page)) as pieces:
                async for piece in pieces:
                    await taken(responder)
                    responder.write(piece)
            responder.write(END)
        responder.end()

    async def _page(self, asked: Range, after: int, *, with_messages: bool) -> FeedRead:
        return await self._conversations.ask(
            asked.by,
            FeedRead,
            lambda to: ReadFeed(
                to, asked.queue, after, asked.until, PAGE, asked.consumer, asked.incarnation, with_messages
            ),
        )

    async def _pieces(self, asked: Range, columns: Columns, page: FeedRead) -> AsyncGenerator[memoryview]:
        """Yield record batches; the next pages are read concurrently."""
        group = await self._joined(asked, columns, page)
        while True:
            coming = None
            if group.reached is not None:
                coming = asyncio.ensure_future(self._following(asked, columns, group.reached))
                coming.add_done_callback(_seen)
            try:
                for some in columns.cut(group.positions):
                    batch = await self._conversations.beside(partial(columns.batch, some, group.messages))
                    if batch is not None:
                        yield batch
                if coming is None:
                    return
                group = await coming
            except NotOk as refusal:
                raise CutOff(str(refusal)) from refusal
            finally:
                if coming is not None:
                    coming.cancel()

    async def _following(self, asked: Range, columns: Columns, after: int) -> Pages:
        page = await self._page(asked, after, with_messages=columns.touches)
        return await self._joined(asked, columns, page)

    async def _joined(self, asked: Range, columns: Columns, page: FeedRead) -> Pages:
        """Return a page with those after it, up to the size of one record batch.

        Each batch has a fixed cost.
        """
        found = [asked.bounds.wanted(page.positions)]
        messages = dict(page.messages)
        while page.more and columns.has_room(found, PAGE):
            page = await self._page(asked, page.reached, with_messages=columns.touches)
            found.append(asked.bounds.wanted(page.positions))
            messages |= page.messages
        return Pages(joined(found), messages, page.reached if page.more else None)


async def taken(responder: Responder) -> None:
    """Wait until the client has taken the bytes that were written."""
    went: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    responder.when_taken(lambda: None if went.done() else went.set_result(None))
    await went


def _seen(pages: asyncio.Future[Pages]) -> None:
    """Read the exception of pages that are no longer needed, so that asyncio does not report it."""
    if not pages.cancelled():
        pages.exception()

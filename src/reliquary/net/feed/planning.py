"""Finds the end of a batch, and divides it into parts: POST /queues/{queue}/plan.

Every position of a bounded batch is counted.  One without bounds may be a whole long queue, and to
count it would take as long as to read it: there only the first pages are counted, and samples of the
feed after them show the density and the size of its messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.forms import MOST, Bodies, read_body
from reliquary.net.api.limits import Digits, PlainNumber, limited
from reliquary.net.api.operations import operation
from reliquary.net.feed.asking import Conversations
from reliquary.net.feed.cutting import Admission, PlanOut, RowGroup
from reliquary.net.feed.reading import Range
from reliquary.net.feed.values import BOUNDS, bounds_of, number_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed.events import FeedRead, FeedViews, LookAtFeeds, ReadFeed
from reliquary.queueing.feed.plain import arrivals_of, sizes_of

PAGE: Final = 10_000
COUNTED: Final = 2 * PAGE
"""The number of positions that are counted one by one in any case."""
LOOKS: Final = 48
"""The number of samples after the counted positions."""
LOOK: Final = 32
"""The number of positions that one sample reads."""
MOST_PARTS: Final = 10_000


_Bound = Annotated[str, limited(pattern="^[0-9]{1,17}$")] | Annotated[int, limited(minimum=0)]
_BOUNDS: Final = limited(propertyNames={"enum": list(BOUNDS)})


class PlanIn(msgspec.Struct, forbid_unknown_fields=True):
    """The range and the limits of a batch."""

    after: Digits | PlainNumber
    until: Digits | PlainNumber | None = None
    rows: Annotated[int, limited(minimum=1)] | None = None
    bytes: Annotated[int, limited(minimum=1)] | None = None
    parts: Annotated[int, limited(minimum=1, maximum=MOST_PARTS)] = 1
    consumer: str = ""
    incarnation: str = ""
    bounds: Annotated[dict[str, _Bound], MOST, _BOUNDS] = {}


_plan = Bodies(PlanIn)
_encode = msgspec.json.Encoder().encode


class Plans:
    """Answers requests for plans of batches."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    @operation("Cut a range of a feed into parts", body=PlanIn, body_required=True, answer=PlanOut)
    def plan(self, context: Context, request: Request, responder: Responder, queue: str) -> None:
        """Answer POST /queues/{queue}/plan with the end and the parts of a batch."""
        parameters(request)
        given = read_body(_plan, request)
        for name, number in (("rows", given.rows), ("bytes", given.bytes)):
            if number is not None and number < 1:
                raise UsageError(f"{name} is at least 1, or null for any number, not {number}")
        if not 1 <= given.parts <= MOST_PARTS:
            raise UsageError(f"parts is 1 to {MOST_PARTS}, not {given.parts}")
        for name in given.bounds:
            if name not in BOUNDS:
                raise UsageError(f"bounds has no {name[:80]!r}; there is {', '.join(BOUNDS)}")
        until = None if given.until is None else number_of("until", given.until)
        asked = Range(
            queue,
            number_of("after", given.after),
            0 if until is None else until,
            given.consumer,
            given.incarnation,
            bounds_of(given.bounds),
            context.engine.by,
        )
        self._conversations.start(
            responder,
            f"a plan for {queue}",
            lambda: self._answer(responder, asked, given, to_the_mark=until is None),
        )

    async def _answer(self, responder: Responder, asked: Range, given: PlanIn, *, to_the_mark: bool) -> None:
        if to_the_mark:
            asked = replace(asked, until=max(await self._mark(asked), asked.after))
        admission = Admission(given.rows, given.bytes)
        after, more = asked.after, True
        while more and not admission.full and (admission.is_bounded or admission.rows < COUNTED):
            page = await self._page(asked, after, PAGE)
            wanted = asked.bounds.wanted(page.positions)
            admission.take(arrivals_of(wanted), sizes_of(wanted))
            after, more = page.reached, page.more
        if more and not admission.full:
            admission.estimate(await self._looks(asked, after))
        responder.respond(200, _encode(admission.plan(asked.after, asked.until, given.parts)))

    async def _mark(self, asked: Range) -> int:
        """Return the current end of the feed."""
        views = await self._conversations.ask(
            asked.by, FeedViews, lambda to: LookAtFeeds(to, (asked.queue,), asked.consumer)
        )
        return views.feeds[0].mark

    async def _page(self, asked: Range, after: int, limit: int) -> FeedRead:
        return await self._conversations.ask(
            asked.by,
            FeedRead,
            lambda to: ReadFeed(
                to, asked.queue, after, asked.until, limit, asked.consumer, asked.incarnation
            ),
        )

    async def _looks(self, asked: Range, after: int) -> list[RowGroup]:
        """Estimate the rows and bytes after a number from samples, without reading all of them."""
        steps: list[RowGroup] = []
        for look in range(LOOKS):
            end = after + (asked.until - after) * (look + 1) // LOOKS
            start = steps[-1].until if steps else after
            if end <= start:
                continue
            page = await self._page(asked, start, LOOK)
            if page.reached >= end:  # there are no more messages, or few with large distances
                within = [each for each in page.positions if arrival_of(each) <= end]
                share = 1.0
            else:
                within = list(page.positions)
                share = (end - start) / (page.reached - start)
            wanted = asked.bounds.wanted(within)
            rows, size = len(wanted), sum(each.size for each in wanted)
            steps.append(RowGroup(end, round(rows * share), round(size * share)))
        return [step for step in steps if step.rows]

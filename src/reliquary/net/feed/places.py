"""GET /queues/{queue}/place: where a time is in a feed.

A request may search more messages than one turn reads, so it takes several turns.  Messages that left the
queue and are kept for a consumer are searched too: a reader that begins at a time must not pass over them.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.limits import limited
from reliquary.net.api.operations import Query, names_of, operation
from reliquary.net.feed.asking import Conversations
from reliquary.net.feed.values import LATEST, number_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.feed.events import ArrivalNumberFound, FindArrivalNumber
from reliquary.queueing.model.security.principals import Principal

_QUERY: Final = (
    Query(
        name="from_time",
        kind=Annotated[str, limited(pattern="^[0-9]{1,18}$")],
        required=True,
        help="The time to look for, in microseconds since 1970.",
    ),
    Query(name="incarnation", help="Refuse another queue of this name."),
)


class PlaceOut(msgspec.Struct):
    """A place in a feed."""

    place: str


_encode = msgspec.json.Encoder().encode


class PlaceSearch:
    """Finds places in feeds by times."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    @operation("Find the place of a time in a feed", query=_QUERY, answer=PlaceOut)
    def place(self, context: Context, request: Request, responder: Responder, queue: str) -> None:
        """Answer GET /queues/{queue}/place with the place before the first message since a time."""
        query = parameters(request, *names_of(_QUERY))
        if "from_time" not in query:
            raise UsageError("from_time is missing: microseconds since 1970")
        moment = number_of("from_time", query["from_time"], LATEST)
        by = context.engine.by

        async def answer() -> None:
            place = await self.find(queue, moment, by, query.get("incarnation", ""))
            responder.respond(200, _encode(PlaceOut(str(place))))

        self._conversations.start(responder, f"the place of a time in {queue}", answer)

    async def find(self, queue: str, moment: int, by: Principal, incarnation: str = "") -> int:
        """Return the place before the first message that arrived at a time or later, or the mark."""
        after, more = 0, True
        while more:
            start = after
            found = await self._conversations.ask(
                by,
                ArrivalNumberFound,
                lambda to: FindArrivalNumber(to, queue, moment, start, incarnation),  # noqa: B023
            )
            after, more = found.place, found.more
        return after

"""Queues as a noun of administration.

It is declared here, and not in `queueing`, because its record has the settings of a queue in the words of the
client.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.client.records import QueueInfo, Settings
from reliquary.queueing.model.administration import Column, Listing, Noun, Paging, Refusal, Showing, View
from reliquary.queueing.model.events import Answer


def _queues(view: View, after: str = "") -> Iterator[QueueInfo]:
    from reliquary.client.translate import queue_info
    from reliquary.engine import views

    return map(queue_info, views.queues(view.state, view.by, after))


def _queue(view: View, name: str) -> QueueInfo | None:
    from reliquary.client.translate import queue_info
    from reliquary.engine import views
    from reliquary.queueing.rules import destinations
    from reliquary.queueing.rules.permission import Act, lacks

    found = destinations.find(view.state, name)
    if found is not None and (missing := lacks(view.state, view.by, found, Act.SHOW)):
        raise Refusal(Answer(HResult.ACCESS_DENIED, missing))
    shown = views.queue(view.state, name)
    return None if shown is None else queue_info(shown)


def _copies_lost(info: QueueInfo) -> str | None:
    return ", ".join(f"{count} {copy}" for copy, count in info.copies_lost.items()) or None


_FIELDS: Final[tuple[str | Column[QueueInfo], ...]] = (
    *(
        Column("copies_lost", _copies_lost) if name == "copies_lost" else name
        for name in QueueInfo.__struct_fields__
        if name != "settings"
    ),
    *(Column(name, attrgetter(f"settings.{name}")) for name in Settings.__struct_fields__),
)

QUEUE: Final[Noun[QueueInfo]] = Noun(
    name="queue",
    plural="queues",
    record=QueueInfo,
    summary="Make, list, show, delete and empty queues.",
    needs=None,
    listing=Listing(records=_queues, paging=Paging(behind=_queues, place=attrgetter("pathname"))),
    showing=Showing(
        key="name",
        kind=str,
        record=_queue,
        missing=HResult.QUEUE_NOT_FOUND,
        help="Show all that is known of the queue NAME.",
        example="orders",
        fields=_FIELDS,
    ),
)

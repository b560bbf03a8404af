"""Consumers as a noun of administration: the named readers of a queue's feed.

`ConsumerInfo` is what clients see, `ConsumerView` what the metrics are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import as_text
from reliquary.queueing.model.administration import Listing, Noun, Plane, Refusal, View
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.names.pathnames import short_path

if TYPE_CHECKING:
    from reliquary.queueing.model.state import State


class ConsumerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A named reader of a queue's feed: messages that it has not read are kept for it."""

    name: str
    cursor: str
    """Everything up to this number was read; a string of digits."""
    created: str
    """A time (RFC 3339), as `moved` is."""
    moved: str
    """When the cursor moved last."""


class ConsumerView(msgspec.Struct, frozen=True, kw_only=True):
    """A reader of a queue's feed, with numbers of that queue; moments are microseconds since 1970."""

    queue: str
    name: str
    cursor: int
    """The reader has passed all numbers up to this one."""
    mark: int
    """The highest number that was given, of all queues of the manager together."""
    created: int
    moved: int
    """When the cursor moved last."""
    messages_retained: int
    """Messages that left the queue and are kept for the readers of its feed."""
    bytes_retained: int

    @property
    def lag(self) -> int:
        """Numbers that the reader has yet to pass: at least as many as messages."""
        return self.mark - self.cursor


def consumers(view: View, queue: str) -> Iterator[ConsumerInfo]:
    """Yield the consumers of one queue, sorted by name.

    Raise Refusal if the queue does not exist or the user may not peek at its messages.
    """
    from reliquary.queueing.rules import destinations
    from reliquary.queueing.rules.permission import Act, lacks

    found = destinations.find(view.state, queue)
    if found is None:
        raise Refusal(Answer(HResult.QUEUE_NOT_FOUND, f"there is no queue {queue}"))
    if missing := lacks(view.state, view.by, found, Act.PEEK):
        raise Refusal(Answer(HResult.ACCESS_DENIED, missing))
    for name, each in sorted(found.feed.consumers.items()):
        yield ConsumerInfo(
            name=name, cursor=str(each.cursor), created=as_text(each.created), moved=as_text(each.moved)
        )


def all_consumers(state: State) -> Iterator[ConsumerView]:
    """Yield the readers of all feeds, sorted by queue and name."""
    found = [each for each in state.queues.values() if each.feed.consumers]
    for each in sorted(found, key=lambda each: each.record.pathname.casefold()):
        for name, record in sorted(each.feed.consumers.items()):
            yield ConsumerView(
                queue=short_path(each.record.pathname),
                name=name,
                cursor=record.cursor,
                mark=state.numbers.sequence,
                created=record.created,
                moved=record.moved,
                messages_retained=each.feed.retained,
                bytes_retained=each.feed.retained_size,
            )


CONSUMER: Final = Noun(
    name="consumer",
    plural="consumers",
    record=ConsumerInfo,
    summary="List, show, move and remove the consumers of feeds.",
    plane=Plane.DATA,
    of_a_queue=True,
    needs=None,
    listing=Listing(records=consumers),
)

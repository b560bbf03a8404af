"""What readers of feeds ask, and what they are answered."""

from __future__ import annotations

from reliquary.base.turn import Event
from reliquary.queueing.model.events import Answer, Request
from reliquary.queueing.model.message import Position


class LookAtFeeds(Request, frozen=True):
    """How far the feeds of some queues go; everything up to the mark is on disk when this is answered.

    A name may have `*` for any letters but `;`, whatever their case: it finds the applications' queues, and
    journals and system queues only where they are named.  Queues that the asker may not peek into are left
    out where a pattern found them, and are an error where he named them.
    """

    to: int
    queues: tuple[str, ...]
    consumer: str = ""


class OpenConsumer(Request, frozen=True):
    """Begin to keep what a reader has not read; one that exists is left as it is."""

    to: int
    queue: str
    name: str
    at: int | None = None
    """The first cursor.  None is the mark: only what comes from now on is read.  0 is all there is."""


class MoveConsumer(Request, frozen=True):
    """A reader has read up to here.  It only moves forward; back is no error and changes nothing."""

    to: int
    queue: str
    name: str
    cursor: int
    incarnation: str = ""


class DropConsumer(Request, frozen=True):
    """A reader will not come back: what was kept for him alone goes."""

    to: int
    queue: str
    name: str


class ReadFeed(Request, frozen=True):
    """Positions of a feed with after < arrival <= until, the first `limit` of them, in the order of arrival.

    With a consumer: DATA_LOST where `after` is before his cursor or he is not known, and refused where
    `until` is behind the mark that was told.
    Without: only what still is in the queue.
    """

    to: int
    queue: str
    after: int
    until: int
    limit: int
    consumer: str = ""
    incarnation: str = ""
    """Not empty: refused unless the queue still is this one."""


class TrimFeed(Event, frozen=True):
    """Go on letting go of what nobody has to read any more."""

    queue: int


class FeedView(Answer, frozen=True):
    """One feed."""

    queue: str = ""
    """Its name as people write it."""
    incarnation: str = ""
    """Another queue of the same name has another."""
    mark: int = 0
    """Nothing that comes later gets a number up to this one."""
    cursor: int | None = None
    """Of the consumer that was asked for."""
    messages: int = 0
    bytes: int = 0
    """What is in the queue and kept for readers, at most; for progress reports."""


class FeedViews(Answer, frozen=True):
    """Several."""

    feeds: tuple[FeedView, ...] = ()


class FeedRead(Answer, frozen=True):
    """Positions in the order of their numbers in the feed (`feed.numbering.arrival_of`).

    The number of a position is its `arrival`, or where that is 0 the sequence in its LookupIdentifier, as it
    is for most: so rows are handed on as they lie on disk.
    """

    queue: int = 0
    positions: tuple[Position, ...] = ()
    more: bool = False
    """There may be others up to `until`: ask again, after `reached`."""
    reached: int = 0
    """All up to here is in this answer; never before the last position, and `until` itself at the end."""

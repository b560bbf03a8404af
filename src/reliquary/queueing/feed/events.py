"""The requests of readers of feeds, and the answers to them."""

from __future__ import annotations

import msgspec

from reliquary.base.turn import Event
from reliquary.queueing.model.events import Answer, Request
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import Loss


class LookAtFeeds(Request, frozen=True):
    """Ask for the marks of the feeds of some queues; when the answer comes, all up to the marks is on disk.

    A name may contain `*` for any characters except `;`; upper and lower case are equal.  A pattern finds the
    queues of applications; journals and system queues need their full name.  A queue that the caller may not
    peek into is left out if a pattern finds it, and is an error if it is named.
    """

    to: int
    queues: tuple[str, ...]
    consumer: str = ""


class OpenConsumer(Request, frozen=True):
    """Create a consumer: messages that it has not read are kept; an existing consumer is not changed."""

    to: int
    queue: str
    name: str
    at: int | None = None
    """The first cursor.  None is the mark: only later messages are read.  0 is the beginning of the feed."""


class MoveConsumer(Request, frozen=True):
    """Move a consumer's cursor forward, as far as it has read; a lower cursor is accepted and ignored."""

    to: int
    queue: str
    name: str
    cursor: int
    incarnation: str = ""


class DropConsumer(Request, frozen=True):
    """Drop a consumer that will not come back; messages that were kept only for it are deleted."""

    to: int
    queue: str
    name: str


class SetConsumer(Request, frozen=True):
    """Set how much is kept for a consumer, or pause it; without a name, set the limit of its queue.

    None leaves a thing as it is.
    """

    to: int
    queue: str
    name: str = ""
    keep: Keep | None = None
    inherit: bool = False
    """It gets no limit of its own: that of the queue, or of the settings, counts."""
    paused: bool | None = None


class ResetConsumer(Request, frozen=True):
    """Move a consumer's cursor forward or back; with `dry_run`, only tell what that would do."""

    to: int
    queue: str
    name: str
    at: int | None = None
    """The new cursor.  None is the mark, so that only later messages are read.  0 is the beginning."""
    dry_run: bool = False


class FindPlace(Request, frozen=True):
    """Find the place before the first message that came at a moment or later; some messages are looked at."""

    to: int
    queue: str
    moment: int
    """Microseconds since 1970."""
    after: int
    """Look behind this number; what comes before was looked at."""


class ReadFeed(Request, frozen=True):
    """Read the first `limit` positions of a feed with after < arrival <= until, in the order of arrival.

    With a consumer, the answer is DATA_LOST if `after` is below its cursor or the consumer is not known, and
    the request is refused if `until` is above the mark.  Without a consumer, only positions that are still in
    the queue are read.
    """

    to: int
    queue: str
    after: int
    until: int
    limit: int
    consumer: str = ""
    incarnation: str = ""
    """If not empty: the request is refused if the queue now has another incarnation."""
    with_messages: bool = False
    """Also return the messages that lie in the rows of these positions, because the rows are read anyway."""


class TrimFeed(Event, frozen=True):
    """Continue to delete retained messages that every consumer has passed."""

    queue: int


class FeedView(Answer, frozen=True):
    """How far one feed goes, and where the consumer of the request is in it."""

    queue: str = ""
    """The name of the queue as people write it."""
    incarnation: str = ""
    """Tells this queue from a later one with an equal name, and from itself before a restore."""
    mark: int = 0
    """No later message gets an arrival number up to this one."""
    cursor: int | None = None
    """The cursor of the consumer that the request names."""
    messages: int = 0
    """The number of messages in the queue and retained for consumers, at most; for progress reports."""
    bytes: int = 0
    """The size of these messages, at most."""
    paused: bool = False
    """The consumer of the request is paused."""
    loss: Loss | None = None
    """What this consumer lost last, because its limit was passed."""


class PlaceFound(Answer, frozen=True):
    """The answer to FindPlace."""

    place: int = 0
    """The place, or how far the messages were looked at."""
    more: bool = False
    """It is not found yet: ask again, after `place`."""


class ConsumerReset(Answer, frozen=True):
    """The answer to ResetConsumer."""

    before: int = 0
    """The cursor as it was."""
    cursor: int = 0
    """The cursor as it is now, or would be."""
    messages: int = 0
    """Messages that the consumer passes over, or if the cursor moves back, that it can read again."""
    bytes: int = 0
    more: bool = False
    """There are more of them than were counted."""


class FeedViews(Answer, frozen=True):
    """The answer to LookAtFeeds: one view for each queue that was found."""

    feeds: tuple[FeedView, ...] = ()


class FeedRead(Answer, frozen=True):
    """The answer to ReadFeed: positions in the order of their arrival numbers (`numbering.arrival_of`).

    The number of a position is its `arrival`; if that is 0, as in most positions, it is the sequence in its
    LookupIdentifier.  So rows are passed on as they are on disk.
    """

    queue: int = 0
    positions: tuple[Position, ...] = ()
    more: bool = False
    """There may be more positions up to `until`: read again, after `reached`."""
    reached: int = 0
    """The answer holds every position up to this number, which is `until` at the end of the range."""
    messages: dict[int, msgspec.Raw] = msgspec.field(default_factory=dict)
    """The bytes of messages that were read with their positions, by the numbers of the messages."""

"""The requests of readers of feeds, and the answers to them."""

from __future__ import annotations

from collections.abc import Sequence

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
    """Set the limit of a consumer, or pause it; without a name, set the limit of its queue.

    None leaves an attribute unchanged.
    """

    to: int
    queue: str
    name: str = ""
    keep: Keep | None = None
    inherit: bool = False
    """Remove the consumer's own limit: the limit of the queue or of the settings applies."""
    paused: bool | None = None


class ResetConsumer(Request, frozen=True):
    """Move a consumer's cursor forward or back; with `dry_run`, only report the effect."""

    to: int
    queue: str
    name: str
    at: int | None = None
    """The new cursor.  None is the mark, so that only later messages are read.  0 is the beginning."""
    dry_run: bool = False


class FindArrivalNumber(Request, frozen=True):
    """Find the arrival number before the first message since a moment; one request searches a part of the
    messages."""

    to: int
    queue: str
    moment: int
    """The time to look for, in microseconds since 1970."""
    after: int
    """Search after this number; earlier messages were searched already."""
    incarnation: str = ""
    """If not empty: the request is refused if the queue now has another incarnation."""


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
    """Also return the messages that are stored in the rows of these positions, because the rows are read
    anyway."""


class TrimFeed(Event, frozen=True):
    """Continue to delete retained messages that every consumer has passed."""

    queue: int


class FeedView(Answer, frozen=True):
    """The mark of one feed, and the cursor of the consumer that the request names."""

    queue: str = ""
    """The name of the queue as people write it."""
    incarnation: str = ""
    """Identifies this queue: it changes if the queue is created again, or the store is restored."""
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
    """The last messages that this consumer lost because its limit was passed."""


class ArrivalNumberFound(Answer, frozen=True):
    """The answer to FindArrivalNumber: the number that was found, or where to continue."""

    place: int = 0
    """The arrival number that was found, or the number of the last message that was searched."""
    more: bool = False
    """It is not found yet: send the request again, with `after` set to `place`."""


class ConsumerReset(Answer, frozen=True):
    """The answer to ResetConsumer: the old and the new cursor, and their distance."""

    before: int = 0
    """The cursor before the request."""
    cursor: int = 0
    """The cursor after the request; with `dry_run`, the cursor that it would have."""
    messages: int = 0
    """Messages that the consumer passes over, or if the cursor moves back, that it can read again."""
    bytes: int = 0
    more: bool = False
    """There are more messages than were counted."""


class FeedViews(Answer, frozen=True):
    """The answer to LookAtFeeds: one view for each queue that was found."""

    feeds: tuple[FeedView, ...] = ()


class FeedRead(Answer, frozen=True):
    """The answer to ReadFeed: positions in the order of their arrival numbers (`numbering.arrival_of`).

    The number of a position is its `arrival`; if that is 0, as in most positions, it is the sequence in its
    LookupIdentifier.  So rows are passed on as they are on disk.
    """

    queue: int = 0
    positions: Sequence[Position] = ()
    more: bool = False
    """There may be more positions up to `until`: read again, after `reached`."""
    reached: int = 0
    """The answer holds every position up to this number, which is `until` at the end of the range."""
    messages: dict[int, msgspec.Raw] = msgspec.field(default_factory=dict)
    """The bytes of messages that were read with their positions, by the numbers of the messages."""

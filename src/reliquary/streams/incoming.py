"""A stream that comes in, while the process runs, and when its next receipt is due.

One receipt confirms several messages.  It waits a short time for further messages, and each one that comes
starts that time again; a receipt that has waited long, or for many messages, goes at once.

    message ---- delay ----> receipt
    message - message - message - ... - message         receipt, `longest` after the first of them
    message number `most` without a receipt             receipt, at once

`waiting` and `unreceipted_since` change together: both are set while a timer of the protocol runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from reliquary.base.time import Duration, Instant
from reliquary.streams.tables import IncomingStream

StreamKey = tuple[UUID, str]
"""A sender's GUID, and the destination as that sender writes it: it has a stream for each spelling."""


@dataclass(frozen=True, slots=True)
class Coalescing:
    """How long a receipt waits for further messages; each protocol has settings for it."""

    delay: Duration
    """How long it waits after the last message."""
    longest: Duration
    """How long it waits after the first message, at most."""
    most: int
    """It goes at once when it confirms this many messages."""


@dataclass(slots=True)
class Gap:
    """What was seen of a stream since a gap showed in it."""

    stream: int
    lowest: int
    seen: int
    """When the last round began in which that number came, microseconds since 1970."""
    rounds: int = 1


@dataclass(slots=True)
class Incoming:
    """A stream that comes in."""

    place: int
    """The number of its timer."""
    key: StreamKey
    stream: IncomingStream
    unreceipted_since: int = 0
    """When the first message came that has no receipt: microseconds since 1970, 0 when there is none."""
    waiting: bool = False
    """The coalescing timer runs."""
    rejected: int = 0
    """Messages in a row that were not taken."""

    def is_receipt_due(self, coalescing: Coalescing, now: Instant) -> bool:
        """Whether the receipt for a message that was just taken goes at once (SR-142, SR-215)."""
        if self.unreceipted_since == 0 or now < self.unreceipted_since:  # the clock was set back
            self.unreceipted_since = now
        # DEPARTS from 3.1.1.3.2 (SR-142): a receipt waits for a limited number of messages, because a
        # sender that limits how many it sends without a receipt would stand still until the timer fires.
        enough = self.stream.last - self.stream.acknowledged >= coalescing.most
        return enough or now - self.unreceipted_since >= coalescing.longest

    def wait(self, coalescing: Coalescing, now: Instant) -> Duration:
        """Begin or go on to wait for further messages; returns when the timer is to fire."""
        since = self.unreceipted_since = self.unreceipted_since or now
        self.waiting = True
        return Duration(min(coalescing.delay, max(since + coalescing.longest - now, 1)))

    def receipted(self) -> None:
        """Note that a receipt goes now: nothing waits for one (SR-215)."""
        self.waiting = False
        self.unreceipted_since = 0

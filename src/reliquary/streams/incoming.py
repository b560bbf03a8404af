"""Keeps the volatile state of an incoming stream, and computes when its next receipt is due.

One receipt confirms several messages.  It waits a short time for more messages, and each message that comes
starts that time again; a receipt that has waited long enough, or for enough messages, is sent at once.

The timer is set for the first message only.  When it fires, the receipt waits for the rest of the time that
later messages have started again: a stream of many messages sets a few timers, not one for each.

    message ---- delay ----> receipt
    message - message - message - ... - message         receipt, `longest` after the first of them
    message number `most` without a receipt             receipt, at once

`waiting` and `unreceipted_since` change together: both are set while a timer of the protocol runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from reliquary.base.time import Duration, Instant
from reliquary.streams.tables import IncomingStream, incoming_key

StreamKey = tuple[UUID, str]
"""The GUID of a sender, and the destination in the sender's spelling: each spelling has its own stream."""


@dataclass(frozen=True, slots=True)
class Coalescing:
    """The times for which a receipt waits for further messages; each protocol has settings for them."""

    delay: Duration
    """The time that a receipt waits after the last message."""
    longest: Duration
    """The longest time that a receipt waits after the first message."""
    most: int
    """The largest number of messages that a receipt confirms; then it is sent at once."""


@dataclass(slots=True)
class Gap:
    """The numbers of a stream that came after a gap was found in it."""

    stream: int
    lowest: int
    """The lowest number that came."""
    seen: int
    """When the last round with that number began, in microseconds since 1970."""
    rounds: int = 1
    """The number of rounds in which that number came."""


@dataclass(slots=True)
class Incoming:
    """An incoming stream, with its messages that have no receipt yet."""

    place: int
    """The number of its timer."""
    key: StreamKey
    stream: IncomingStream
    unreceipted_since: int = 0
    """When the first message without a receipt came, in microseconds since 1970; 0 if there is none."""
    waiting: bool = False
    """Whether the coalescing timer runs."""
    rejected: int = 0
    """The number of messages in a row that were not taken; a restart begins with 0 (QB-108)."""
    row_key: bytes = field(init=False, repr=False, compare=False)
    """The key of its row."""

    def __post_init__(self) -> None:
        self.row_key = incoming_key(*self.key)

    def is_receipt_due(self, coalescing: Coalescing, now: Instant) -> bool:
        """Return whether the receipt is sent at once, after a message was taken (SR-142, SR-215)."""
        if self.unreceipted_since == 0 or now < self.unreceipted_since:  # the clock was set back
            self.unreceipted_since = now
        # DEPARTS from 3.1.1.3.2 (SR-142): a receipt waits for a limited number of messages, because a
        # sender that limits how many it sends without a receipt would stand still until the timer fires.
        enough = self.stream.last - self.stream.acknowledged >= coalescing.most
        return enough or now - self.unreceipted_since >= coalescing.longest

    def wait(self, coalescing: Coalescing, now: Instant) -> Duration:
        """Wait for more messages, and return the time until the timer must fire."""
        since = self.unreceipted_since = self.unreceipted_since or now
        self.waiting = True
        return Duration(min(coalescing.delay, max(since + coalescing.longest - now, 1)))

    def time_left(self, coalescing: Coalescing, now: Instant) -> Duration:
        """Return how long the receipt still waits when its timer has fired; 0 if it is due (SR-215)."""
        due = min(self.stream.accessed + coalescing.delay, self.unreceipted_since + coalescing.longest)
        left = due - now
        return Duration(left if 0 < left <= coalescing.delay else 0)  # more, if the clock was set back

    def receipted(self) -> None:
        """Record that a receipt is sent now, so that no message waits for one (SR-215)."""
        self.waiting = False
        self.unreceipted_since = 0

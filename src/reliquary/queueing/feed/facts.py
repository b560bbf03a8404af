"""The facts about feeds: consumers and retained positions that change."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import Consumer, Moments


class ConsumerPlaced(Fact, frozen=True):
    """A consumer was created or set, or its cursor moved."""

    queue: int
    name: str
    record: Consumer


class ConsumerLost(Fact, frozen=True):
    """A consumer lost the oldest messages that were kept for it; its record says which."""

    queue: int
    name: str
    record: Consumer


class QueueKept(Fact, frozen=True):
    """A limit was set for consumers of a queue that have none of their own; None takes it away."""

    queue: int
    keep: Keep | None


class FeedsLooked(Fact, frozen=True):
    """The highest number of all feeds at a moment was noted."""

    moments: Moments


class ConsumerDropped(Fact, frozen=True):
    """A consumer was dropped; no messages are kept for it any more."""

    queue: int
    name: str


class RetainedDropped(Fact, frozen=True):
    """Retained positions were deleted, because every consumer has passed or lost them."""

    queue: int
    positions: tuple[Position, ...]

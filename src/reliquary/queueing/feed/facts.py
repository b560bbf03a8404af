"""The facts about feeds: consumers and retained positions that change."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import Consumer


class ConsumerPlaced(Fact, frozen=True):
    """A consumer was created, or its cursor moved forward."""

    queue: int
    name: str
    record: Consumer


class ConsumerDropped(Fact, frozen=True):
    """A consumer was dropped; no messages are kept for it any more."""

    queue: int
    name: str


class RetainedDropped(Fact, frozen=True):
    """Retained positions were deleted, because every consumer has passed them."""

    queue: int
    positions: tuple[Position, ...]

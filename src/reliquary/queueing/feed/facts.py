"""What is stated of feeds."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import Consumer


class ConsumerPlaced(Fact, frozen=True):
    """A reader is here now, for the first time or further on."""

    queue: int
    name: str
    record: Consumer


class ConsumerDropped(Fact, frozen=True):
    """Nothing is kept for this reader any more."""

    queue: int
    name: str


class RetainedDropped(Fact, frozen=True):
    """Positions that had left their queue are no longer kept: every reader has passed them."""

    queue: int
    positions: tuple[Position, ...]

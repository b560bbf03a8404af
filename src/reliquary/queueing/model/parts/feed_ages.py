"""How old the messages of feeds are, known by their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.queueing.model.tables import Moments


@dataclass(slots=True)
class FeedAges:
    """The numbers that feeds had at some moments.

    Written by: feed, recovery.
    """

    moments: Moments = field(default_factory=Moments)
    looked: int = 0
    """When the last number was noted, microseconds since 1970; 0 before the first look of this process."""
    watched: int = 0
    """The time between two looks, microseconds; 0 while no look is awaited."""

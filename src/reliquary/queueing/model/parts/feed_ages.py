"""Keeps the ages of messages in feeds, which are computed from their numbers."""

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
    """The moment when a number was last noted, microseconds since 1970; 0 before this process noted one."""
    watched: int = 0
    """The time between two notes of the number, microseconds; 0 while no timer is set."""

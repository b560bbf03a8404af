"""Tests that a process that starts knows no age before it has looked."""

from __future__ import annotations

from reliquary.queueing.feed.ages import outdated
from reliquary.queueing.model.parts.feed_ages import FeedAges


def test_a_new_process_has_looked_at_nothing() -> None:
    ages = FeedAges()
    assert (ages.looked, ages.watched, outdated(ages.moments, 0)) == (0, 0, 0)

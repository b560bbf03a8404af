"""The rules, permits and appliers that feeds add to the queue manager."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.feed import ages, facts, steering, trimming
from reliquary.queueing.feed.apply import APPLIERS
from reliquary.queueing.feed.events import TrimFeed
from reliquary.queueing.feed.permits import PERMITS
from reliquary.queueing.feed.rules import RULES
from reliquary.queueing.model.feature import Feature

FEED: Final = Feature(
    name="feed",
    rules=RULES | steering.RULES,
    timers={ages.LOOK[0]: lambda state, _, now: trimming.on_look(state, now)},
    permits=PERMITS,
    appliers=APPLIERS,
    # readers of feeds remove no message, so their facts have no history events
    recorders={
        facts.ConsumerPlaced: None,
        facts.ConsumerLost: None,
        facts.ConsumerDropped: None,
        facts.QueueKept: None,
        facts.FeedsLooked: None,
        facts.RetainedDropped: None,
    },
    at_any_time=frozenset({TrimFeed}),
)

"""Check that a user may read a feed: LookAtFeeds needs the right to peek, a consumer that to receive."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.feed import events
from reliquary.queueing.model.events import Request
from reliquary.queueing.model.feature import Permit
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.permission import Act, lacks_on


def _look_at_feeds(state: State, request: events.LookAtFeeds) -> str:
    """Check the queues that are named; the rule checks each queue that a pattern finds."""
    named = [name for name in request.queues if "*" not in name]
    return next(filter(None, (lacks_on(state, request, name, Act.PEEK) for name in named)), "")


def _read_feed(state: State, request: events.ReadFeed | events.FindArrivalNumber) -> str:
    return lacks_on(state, request, request.queue, Act.PEEK)


_Consuming = (
    events.OpenConsumer
    | events.MoveConsumer
    | events.DropConsumer
    | events.SetConsumer
    | events.ResetConsumer
)


def _consume(state: State, request: _Consuming) -> str:
    return lacks_on(state, request, request.queue, Act.RECEIVE)


PERMITS: Final[dict[type[Request], Permit]] = {
    events.LookAtFeeds: _look_at_feeds,
    events.ReadFeed: _read_feed,
    events.FindArrivalNumber: _read_feed,
    events.OpenConsumer: _consume,
    events.MoveConsumer: _consume,
    events.DropConsumer: _consume,
    events.SetConsumer: _consume,
    events.ResetConsumer: _consume,
}

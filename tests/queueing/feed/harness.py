"""Helpers for tests of feeds: the requests that most of them send."""

from __future__ import annotations

from typing import Any

from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed.events import DropConsumer, LookAtFeeds, MoveConsumer, OpenConsumer, ReadFeed
from tests.queueing.manager_harness import Bench

LAKE = "lake"


def opened(bench: Bench, queue: str = "orders", name: str = LAKE, at: int | None = None) -> int:
    """Open a consumer and return its cursor."""
    cursor: int = bench.ask(OpenConsumer(0, queue, name, at)).cursor
    return cursor


def moved(bench: Bench, cursor: int, queue: str = "orders", name: str = LAKE) -> Any:
    return bench.ask(MoveConsumer(0, queue, name, cursor))


def dropped(bench: Bench, queue: str = "orders", name: str = LAKE) -> Any:
    return bench.ask(DropConsumer(0, queue, name))


def mark(bench: Bench, queue: str = "orders") -> int:
    """Ask how far the feed goes and return the mark."""
    [view] = bench.ask(LookAtFeeds(0, (queue,))).feeds
    reported: int = view.mark
    return reported


def feed(
    bench: Bench, after: int = 0, until: int | None = None, queue: str = "orders", name: str = LAKE
) -> dict[int, bytes]:
    """Return the bodies of a range by their numbers; without a limit, up to the mark."""
    until = mark(bench, queue) if until is None else until
    read = bench.ask(ReadFeed(0, queue, after, until, 10_000, name))
    return {arrival_of(each): bench.state.messages.get(each).body for each in read.positions}


def bodies(
    bench: Bench, after: int = 0, until: int | None = None, queue: str = "orders", name: str = LAKE
) -> list[bytes]:
    """Return the bodies of a range."""
    return list(feed(bench, after, until, queue, name).values())

"""Questions to the managers of a query about their queues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from reliquary.client.errors import QueueNotFound
from reliquary.client.feed import Feed, FeedClient
from reliquary.spark.offsets import QueueKey

THREADS: Final = 32
"""Managers that are asked at once, at most."""
T = TypeVar("T")


class Ask(Protocol):
    """Asks a manager; None is the answer of one that is skipped."""

    def __call__(self, manager: str, work: Callable[[FeedClient], T], /) -> T | None:
        """Do this work with the client of a manager, and return what it returned."""


@dataclass
class Look:
    """The feeds of a query, as they are now."""

    feeds: dict[QueueKey, Feed] = field(default_factory=dict)
    missing: list[QueueKey] = field(default_factory=list)
    """Queues that the query names, and that are not there."""
    managers: list[str] = field(default_factory=list)
    """The names of the managers that answered."""

    @property
    def incarnations(self) -> dict[QueueKey, str]:
        """Return the incarnation of each queue."""
        return {key: feed.incarnation for key, feed in self.feeds.items()}

    def by_manager(self, managers: Sequence[str]) -> dict[str, list[str]]:
        """Return the names of the queues by manager."""
        found: dict[str, list[str]] = {manager: [] for manager in managers}
        for key in self.feeds:
            found[key.manager].append(key.queue)
        return found


def look(
    ask: Ask, managers: Sequence[str], queues: Sequence[str], consumer: str, *, at_once: bool = False
) -> Look:
    """Ask each manager for the feeds of these queues: names and patterns.

    With `at_once` no manager waits for the answer of another one, which may be silent for long.
    """

    def answer_of(manager: str) -> tuple[list[Feed], list[str]] | None:
        return ask(manager, lambda client: feeds_of(client, queues, consumer))

    if at_once and len(managers) > 1:
        with ThreadPoolExecutor(min(len(managers), THREADS)) as pool:
            answers = [*pool.map(answer_of, managers)]
    else:
        answers = [*map(answer_of, managers)]
    found = Look()
    for manager, answer in zip(managers, answers, strict=True):
        if answer is None:
            continue
        feeds, missing = answer
        found.managers.append(manager)
        found.feeds |= {QueueKey(manager, feed.queue): feed for feed in feeds}
        found.missing += (QueueKey(manager, name) for name in missing)
    return found


def feeds_of(client: FeedClient, names: Sequence[str], consumer: str) -> tuple[list[Feed], list[str]]:
    """Return the feeds of names and patterns, and the names that are missing."""
    try:
        return client.feeds(names, consumer), []
    except QueueNotFound:
        pass
    found: dict[str, Feed] = {}
    missing: list[str] = []
    for name in names:
        try:
            found |= {feed.queue: feed for feed in client.feeds((name,), consumer)}
        except QueueNotFound:
            missing.append(name)
    return list(found.values()), missing

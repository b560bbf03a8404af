"""Asks the managers of a query about their queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reliquary.client.errors import QueueNotFound
from reliquary.client.feed import Feed, FeedClient
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import QueueKey


@dataclass
class Look:
    """The feeds of a query, as they are now."""

    feeds: dict[QueueKey, Feed] = field(default_factory=dict)
    missing: list[QueueKey] = field(default_factory=list)
    """Queues that the query names and that do not exist."""
    managers: list[str] = field(default_factory=list)
    """The names of the managers that answered."""

    @property
    def incarnations(self) -> dict[QueueKey, str]:
        """The incarnation of each queue."""
        return {key: feed.incarnation for key, feed in self.feeds.items()}

    def by_manager(self, managers: Sequence[str]) -> dict[str, list[str]]:
        """Return the names of the queues by manager."""
        found: dict[str, list[str]] = {manager: [] for manager in managers}
        for key in self.feeds:
            found[key.manager].append(key.queue)
        return found


def look(
    managers: Managers,
    names: Sequence[str],
    queues: Sequence[str],
    consumer: str,
    *,
    insist: bool = False,
) -> Look:
    """Ask the managers of these names for the feeds of queues: names and patterns.

    With `insist` no manager is skipped.
    """
    ask = managers.insist if insist else managers.ask

    def answer_of(manager: str) -> tuple[list[Feed], list[str]] | None:
        return ask(manager, lambda client: feeds_of(client, queues, consumer), *queues)

    answers = managers.together.ask(names, str, answer_of)
    found = Look()
    for manager, answer in zip(names, answers, strict=True):
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

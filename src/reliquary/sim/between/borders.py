"""Sites that lose sight of each other for a while."""

from __future__ import annotations

from functools import partial
from typing import Final

from reliquary.base.time import MILLISECOND
from reliquary.sim.between.roads import Roads
from reliquary.sim.chance import SeededChance
from reliquary.sim.scheduler import Scheduler

LONGEST_CLOSED: Final = 3_000 * MILLISECOND


class Borders:
    """Now and then two sites cannot reach each other, until the roads clear up."""

    def __init__(self, scheduler: Scheduler, chance: SeededChance, roads: Roads) -> None:
        self._scheduler = scheduler
        self._chance = chance
        self._roads = roads
        self._sites: list[str] = []
        self._closed: set[frozenset[str]] = set()
        self._close_some_time()

    def add(self, site: str) -> None:
        """Know one more site."""
        self._sites.append(site)

    def are_closed(self, one: str, other: str) -> bool:
        """Whether nothing gets from one to the other now."""
        return frozenset((one, other)) in self._closed

    def _close_some_time(self) -> None:
        if self._roads.closed_every:
            self._scheduler.after(self._chance.between(1, 2 * self._roads.closed_every), self._close)

    def _close(self) -> None:
        if self._roads.closed_every:
            pair = frozenset((self._chance.pick(self._sites), self._chance.pick(self._sites)))
            self._closed.add(pair)
            open_again = partial(self._closed.discard, pair)
            self._scheduler.after(self._chance.between(1, LONGEST_CLOSED), open_again)
            self._close_some_time()

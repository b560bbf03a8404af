"""Separates sites that cannot reach each other for a time."""

from __future__ import annotations

from functools import partial
from typing import Final

from reliquary.base.time import MILLISECOND
from reliquary.sim.chance import SeededChance
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network_faults import NetworkFaults

LONGEST: Final = 3_000 * MILLISECOND


class Partitions:
    """Separates two sites from time to time, until the faults end."""

    def __init__(self, scheduler: Scheduler, chance: SeededChance, faults: NetworkFaults) -> None:
        self._scheduler = scheduler
        self._chance = chance
        self._faults = faults
        self._sites: list[str] = []
        self._separated: set[frozenset[str]] = set()
        self._schedule()

    def add(self, site: str) -> None:
        """Allow that this site is separated from the others."""
        self._sites.append(site)

    def are_separate(self, one: str, other: str) -> bool:
        """Return whether no data gets from one site to the other now."""
        return (one, other) == self._faults.silenced or frozenset((one, other)) in self._separated

    def _schedule(self) -> None:
        if self._faults.partition_every:
            self._scheduler.after(self._chance.between(1, 2 * self._faults.partition_every), self._begin)

    def _begin(self) -> None:
        if self._faults.partition_every:
            pair = frozenset((self._chance.pick(self._sites), self._chance.pick(self._sites)))
            self._separated.add(pair)
            join = partial(self._separated.discard, pair)
            self._scheduler.after(self._chance.between(1, LONGEST), join)
            self._schedule()

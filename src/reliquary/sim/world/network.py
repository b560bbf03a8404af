"""Defines the network of one protocol: which processes can be reached, and how long that takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

from reliquary.base.turn import Effect
from reliquary.sim.chance import SeededChance
from reliquary.sim.host import Host
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network_faults import NetworkFaults
from reliquary.sim.world.partitions import Partitions


class SiteNetwork(ABC):
    """Converts the effects of one protocol's machines to events of the machines of other sites."""

    def __init__(self, scheduler: Scheduler, chance: SeededChance, faults: NetworkFaults) -> None:
        self._scheduler = scheduler
        self._chance = chance
        self._hosts: dict[str, Host] = {}
        self._faults = faults
        self._partitions = Partitions(scheduler, chance, faults)

    def join(self, authority: str, host: Host) -> None:
        """Make a host reachable under this name."""
        self._hosts[authority] = host
        self._partitions.add(authority)
        host.on_end.append(self._ended)

    @abstractmethod
    def perform(self, site: str, process: Process, effect: Effect) -> None:
        """Perform an effect of the protocol's machine, in a process at this site."""

    @abstractmethod
    def _ended(self, process: Process) -> None:
        """Break the connections of a process that has ended, at both ends."""

    def _process_at(self, authority: str) -> Process | None:
        """Return the process that runs at a site, also if it accepts no requests."""
        process = self._hosts[authority].process if authority in self._hosts else None
        return process if process is not None and process.alive else None

    def _delay(self) -> int:
        return self._chance.between(20, self._faults.slowest)

    def _after(self, span: int, action: Callable[..., None], *arguments: Any) -> None:
        self._scheduler.after(span, partial(action, *arguments))

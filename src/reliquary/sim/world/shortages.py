"""Sites that run out of disk space for a while, in every tenth seed: their managers take no messages then."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from reliquary.base.time import MILLISECOND, SECOND
from reliquary.queueing.model.events import FlowControl
from reliquary.sim.chance import SeededChance
from reliquary.sim.host import Host
from reliquary.sim.scheduler import Scheduler

EVERY: Final = 10
"""In one of this many seeds sites run out of disk space ..."""
BETWEEN: Final = 300 * MILLISECOND
"""... each after about this time ..."""
LONGEST: Final = SECOND
"""... and at most for this time."""


def are_due(seed: int) -> bool:
    """Return whether sites run out of disk space in a seed."""
    return seed % EVERY == 3


class Shortages:
    """Throttles each manager now and then, until the faults end."""

    def __init__(self, scheduler: Scheduler, chance: SeededChance, hosts: Sequence[Host]) -> None:
        self._scheduler = scheduler
        self._chance = chance
        self._hosts = tuple(hosts)
        self._ended = False
        for host in self._hosts:
            self._schedule(host)

    def end(self) -> None:
        """Give every site room, for good."""
        self._ended = True
        for host in self._hosts:
            _throttle(host, throttled=False)

    def _schedule(self, host: Host) -> None:
        self._scheduler.after(self._chance.between(1, 2 * BETWEEN), partial(self._begin, host))

    def _begin(self, host: Host) -> None:
        if not self._ended:
            _throttle(host, throttled=True)
            self._scheduler.after(self._chance.between(1, LONGEST), partial(self._go_on, host))

    def _go_on(self, host: Host) -> None:
        _throttle(host, throttled=False)
        if not self._ended:
            self._schedule(host)


def _throttle(host: Host, *, throttled: bool) -> None:
    """Let the manager of a site take messages or not; a new process takes them."""
    if host.process is not None and host.process.accepting:
        host.process.submit(FlowControl(throttled, "the disk is almost full" if throttled else ""))

"""Makes and restores backups of stores, in every tenth seed.

    turns     0        backup       backup      steps: restore        restore            the faults end
              |-----------|-----------|-------------|-----------------|-----------------------|

A host that restores a backup has forgotten its changes since then; all other hosts have not.  Any of the
backups may be restored, also an older one after a newer one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from reliquary.sim.chance import SeededChance
from reliquary.sim.disk import SimulatedDisk

if TYPE_CHECKING:
    from reliquary.sim.host import Host

EVERY: Final = 10
"""One of this number of seeds restores backups."""
Until = Callable[[int], None]
"""A function that continues a run until it has this number of turns."""


@dataclass(frozen=True, slots=True)
class Backup:
    """The content of a store at one moment."""

    disk: SimulatedDisk
    turns: frozenset[int]
    """The numbers of the turns whose facts the backup contains."""


def are_due(seed: int) -> bool:
    """Return whether a seed restores backups."""
    return seed % EVERY == 0


def run_with_restores(chance: SeededChance, hosts: Sequence[Host], steps: int, until: Until) -> None:
    """Run `steps` turns and half as many more; back up and restore one host or two meanwhile."""
    plan: list[tuple[int, int, Callable[[], None]]] = []
    first = chance.between(0, len(hosts) - 1)
    chosen = [*hosts[first:], *hosts[:first]][: chance.pick((1, 1, 1, 2))]
    for host in chosen:
        backups: list[Backup] = []
        for _ in range(chance.pick((1, 1, 2, 3))):
            plan.append((_a_turn(chance, steps, 10, 50), len(plan), partial(_back_up, host, backups)))
        for _ in range(chance.pick((1, 1, 2))):
            plan.append(
                (_a_turn(chance, steps, 55, 110), len(plan), partial(_restore, chance, host, backups))
            )
    for turns, _, happen in sorted(plan, key=lambda each: each[:2]):
        until(turns)
        happen()
    until(steps + steps // 2)


def _a_turn(chance: SeededChance, steps: int, low: int, high: int) -> int:
    """Return the number of a turn, between two shares of the steps in percent."""
    return chance.between(steps * low // 100, steps * high // 100)


def _back_up(host: Host, backups: list[Backup]) -> None:
    backups.append(host.back_up())


def _restore(chance: SeededChance, host: Host, backups: list[Backup]) -> None:
    host.restore(chance.pick(backups), known=chance.happens(0.5))

"""Simulates a disk: a `MemoryDisk` whose syncs take time, and which records how far it is synced.

    applied   1 2 3 4 5 6      batches are numbered as they are applied
    durable   1 2 3            batches that a crash cannot lose
    a sync    begins at 5: it covers 4 and 5, and not 6, which is applied while it runs

After a crash the numbers continue from the last batch that was kept.  A backup has the rows that are
durable when it is made; a disk that is restored from it has a record of the restoration until the manager
has begun its new era, as a real disk does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from reliquary.base.chance import Chance
from reliquary.base.restoration import Restoration
from reliquary.store.memory import MemoryDisk


class SimulatedDisk(MemoryDisk):
    """A disk whose sync has two steps."""

    def __init__(self, tables: Iterable[str]) -> None:
        super().__init__(tables)
        self.durable = 0
        """The number of the last durable batch."""
        self.restoration: Restoration | None = None
        """The record of a restoration; None unless the rows are older than the last state of their
        manager."""

    @property
    def applied(self) -> int:
        """Return the number of the last batch that was applied."""
        return self.durable + self.unsynced

    def begin_sync(self) -> int:
        """Start a sync; return the number of the last batch that it covers."""
        return self.applied

    def end_sync(self, covered: int) -> None:
        """End a sync up to this batch, with success or with a failure."""
        self._must_be_usable()
        self._end_sync(covered - self.durable)
        self.durable = covered

    def sync(self) -> None:
        """Sync the simulated disk at once."""
        self.end_sync(self.begin_sync())

    def crash(self, chance: Chance) -> Self:
        """Return the disk that the next process finds: a prefix of the applied batches."""
        survivor = super().crash(chance)
        survivor.durable = self.durable + survivor.kept
        survivor.restoration = self.restoration
        return survivor

    def mend(self) -> None:
        """Cancel an injected failure that has not happened yet."""
        self._sync_fault = self._apply_fault = None

    def copied(self) -> Self:
        """Return a copy with the visible rows, for a process that is built only for a comparison."""
        other = type(self)(self._rows)
        other._rows = {name: rows.copy() for name, rows in self._rows.items()}
        return other

    # -- backups

    def backed_up(self) -> Self:
        """Return a disk with the rows that are durable now."""
        other = type(self)(self._durable)
        other._rows = {name: rows.copy() for name, rows in self._durable.items()}
        other._durable = {name: rows.copy() for name, rows in self._durable.items()}
        other.durable = self.durable
        return other

    def restored(self, restoration: Restoration) -> Self:
        """Return a disk restored from this backup; the backup does not change."""
        other = self.backed_up()
        other.restoration = restoration
        return other

    def restoration_begun(self) -> None:
        """Record that the era of a restored store is on disk."""
        self.restoration = None

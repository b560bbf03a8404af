"""The simulated disk: a `MemoryDisk` whose syncs take time, and which knows how far it is synced.

    applied   1 2 3 4 5 6      batches are numbered as they are applied
    durable   1 2 3            batches that a crash cannot lose
    a sync    begins at 5: it covers 4 and 5, and not 6, which is applied while it runs

After a crash the numbers go on from the last batch that was kept.  A backup has what is durable when it is
made; the disk that is restored from it says so until the manager has begun its new era, as a real one does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from reliquary.base.chance import Chance
from reliquary.base.restoration import Restoration
from reliquary.store.memory import MemoryDisk


class SimulatedDisk(MemoryDisk):
    """A disk with a sync in two steps."""

    def __init__(self, tables: Iterable[str]) -> None:
        super().__init__(tables)
        self.durable = 0
        """The number of the last batch that a crash cannot take."""
        self.restoration: Restoration | None = None
        """Not None while the rows are older than what their manager did last."""

    @property
    def applied(self) -> int:
        """The number of the last batch that was applied."""
        return self.durable + self.unsynced

    def begin_sync(self) -> int:
        """Start a sync; answers with the number of the last batch that it covers."""
        return self.applied

    def end_sync(self, covered: int) -> None:
        """End a sync that covered this many batches, with success or with a failure."""
        self._must_be_usable()
        self._end_sync(covered - self.durable)
        self.durable = covered

    def sync(self) -> None:
        """Sync the simulated disk at once."""
        self.end_sync(self.begin_sync())

    def crash(self, chance: Chance) -> Self:
        """Return the disk that the next process finds: a prefix of what was applied."""
        survivor = super().crash(chance)
        survivor.durable = self.durable + survivor.kept
        survivor.restoration = self.restoration
        return survivor

    def mend(self) -> None:
        """Cancel a failure that was planned and has not come."""
        self._sync_fault = self._apply_fault = None

    def copied(self) -> Self:
        """Return the disk as reads see it now, for a process that is built only for a comparison."""
        other = type(self)(self._rows)
        other._rows = {name: rows.copy() for name, rows in self._rows.items()}
        return other

    # -- backups

    def backed_up(self) -> Self:
        """Return a disk with what is durable now."""
        other = type(self)(self._durable)
        other._rows = {name: rows.copy() for name, rows in self._durable.items()}
        other._durable = {name: rows.copy() for name, rows in self._durable.items()}
        other.durable = self.durable
        return other

    def restored(self, restoration: Restoration) -> Self:
        """Return the disk that is made from this backup; the backup does not change."""
        other = self.backed_up()
        other.restoration = restoration
        return other

    def restoration_begun(self) -> None:
        """Note that the era of a restored store is on disk."""
        self.restoration = None

"""Implements a disk in memory, for the simulator and for a manager without a folder.

A crash loses what was not synced, and faults can be injected.

    rows       what reads see: everything applied
    durable    what a crash cannot lose: everything synced
    unsynced   the batches between the two, in order

A crash keeps the durable rows and a random prefix of the unsynced batches, each of them whole.  A
write-ahead log behaves in this way too: its records carry checksums, so the batch that was being written
when the power went is torn, is found to be torn, and is dropped with all that follows.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Self

from reliquary.base.chance import Chance
from reliquary.base.faults import StoreFailure, UsageError
from reliquary.store.disk import Changes, Reads

_WHY = {
    "full": "the simulated disk is full",
    "io": "the simulated disk failed",
}


class MemoryDisk:
    """A `Disk` that keeps its rows in dictionaries."""

    def __init__(self, tables: Iterable[str]) -> None:
        names = list(tables)
        self._rows = {name: _SortedRows() for name in names}
        self._durable = {name: _SortedRows() for name in names}
        self._unsynced: list[Changes] = []
        self._closed = False
        self._failure: StoreFailure | None = None
        self._sync_fault: str | None = None
        self._apply_fault: str | None = None
        self._applies_left = 0
        self.kept = 0
        """The number of unsynced batches that survived the crash from which this disk was made."""

    # Operations of a disk

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return the value of one row, or None."""
        self._must_be_usable()
        return self._rows[table].values.get(key)

    def range(
        self, table: str, first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, bytes]]:
        """Return up to `limit` rows with first <= key < last, in the order of keys, or from the end."""
        self._must_be_usable()
        return self._rows[table].range(first, last, limit, reverse)

    def frozen(self) -> Reads:
        """Return all rows in their present state."""
        self._must_be_usable()
        return _Frozen({name: rows.copy() for name, rows in self._rows.items()})

    def apply(self, changes: Changes) -> None:
        """Write a batch; a crash may lose it until the next sync."""
        self._must_be_usable()
        if self._apply_fault is not None:
            if self._applies_left == 0:
                raise self._fail(self._apply_fault)
            self._applies_left -= 1
        _change(self._rows, changes)
        self._unsynced.append(changes)

    def sync(self) -> None:
        """Make everything that was applied before this call durable."""
        self._must_be_usable()
        self._end_sync(len(self._unsynced))

    def _end_sync(self, covered: int) -> None:
        """Make the oldest `covered` unsynced batches durable, or raise the injected fault."""
        if self._sync_fault is not None:
            raise self._fail(self._sync_fault)
        for changes in self._unsynced[:covered]:
            _change(self._durable, changes)
        del self._unsynced[:covered]

    def close(self) -> None:
        """Sync the applied batches, and close the store."""
        if not self._closed and self._failure is None:
            self.sync()
        self._closed = True

    # Injected faults

    def crash(self, chance: Chance) -> Self:
        """Return the disk that the next process finds; this disk cannot be used any more."""
        survivor = type(self)(self._durable)
        kept = chance.bits(32) % (len(self._unsynced) + 1)
        for name, rows in self._durable.items():
            survivor._rows[name] = rows.copy()
        for changes in self._unsynced[:kept]:
            _change(survivor._rows, changes)
        survivor._durable = {name: rows.copy() for name, rows in survivor._rows.items()}
        survivor.kept = kept
        self._closed = True
        return survivor

    @property
    def unsynced(self) -> int:
        """Return the number of batches that a crash could lose now."""
        return len(self._unsynced)

    def fail_next_sync(self, kind: str) -> None:
        """Make the next sync fail with "io" or "full"."""
        assert kind in _WHY, kind
        self._sync_fault = kind

    def fail_apply_after(self, applies: int, kind: str) -> None:
        """Apply `applies` more batches, then fail the next one with "io" or "full"."""
        assert kind in _WHY, kind
        self._applies_left, self._apply_fault = applies, kind

    def flip_bit(self, table: str, key: bytes, bit: int) -> None:
        """Flip one bit of a stored value; `bit` counts from the front and wraps at the end."""
        for rows in (self._rows[table], self._durable[table]):
            if key in rows.values:
                rows.values[key] = _flipped(rows.values[key], bit)

    def _fail(self, kind: str) -> StoreFailure:
        self._failure = StoreFailure(kind, _WHY[kind])
        return self._failure

    def _must_be_usable(self) -> None:
        if self._failure is not None:
            raise StoreFailure(self._failure.kind, f"no work after a failed write: {self._failure}")
        if self._closed:
            raise UsageError("the simulated disk is closed")


class _Frozen:
    """The rows at one moment."""

    def __init__(self, rows: dict[str, _SortedRows]) -> None:
        self._rows = rows

    def get(self, table: str, key: bytes) -> bytes | None:
        return self._rows[table].values.get(key)

    def range(
        self, table: str, first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, bytes]]:
        return self._rows[table].range(first, last, limit, reverse)


class _SortedRows:
    """The rows of one table: values by key, and the keys in order."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self._keys: list[bytes] = []

    def copy(self) -> _SortedRows:
        other = _SortedRows()
        other.values, other._keys = self.values.copy(), self._keys.copy()
        return other

    def put(self, key: bytes, value: bytes) -> None:
        if key not in self.values:
            insort(self._keys, key)
        self.values[key] = value

    def delete(self, key: bytes) -> None:
        if self.values.pop(key, None) is not None:
            del self._keys[bisect_left(self._keys, key)]

    def delete_range(self, first: bytes, last: bytes) -> None:
        begin, end = self._window(first, last)
        for key in self._keys[begin:end]:
            del self.values[key]
        del self._keys[begin:end]

    def range(self, first: bytes, last: bytes, limit: int, reverse: bool) -> list[tuple[bytes, bytes]]:
        begin, end = self._window(first, last)
        limit = max(limit, 0)
        if reverse:
            keys = self._keys[max(begin, end - limit) : end][::-1]
        else:
            keys = self._keys[begin : min(end, begin + limit)]
        return [(key, self.values[key]) for key in keys]

    def _window(self, first: bytes, last: bytes) -> tuple[int, int]:
        begin = bisect_left(self._keys, first)
        return begin, max(begin, bisect_left(self._keys, last))


def _change(tables: dict[str, _SortedRows], changes: Changes) -> None:
    """Apply all changes or none: an unknown table is found before the first change."""
    emptied = [(tables[table], first, last) for table, first, last in changes.ranges]
    changed = [(tables[table], puts) for table, puts in changes.puts.items()]
    for rows, first, last in emptied:
        rows.delete_range(first, last)
    for rows, puts in changed:
        for key, value in puts.items():
            if value is None:
                rows.delete(key)
            else:
                rows.put(key, value)


def _flipped(value: bytes, bit: int) -> bytes:
    place, shift = divmod(bit % (len(value) * 8), 8)
    rotten = bytearray(value)
    rotten[place] ^= 1 << shift
    return bytes(rotten)

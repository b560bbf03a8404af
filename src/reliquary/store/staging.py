"""Collects the rows that the turns of a batch change; reads see them at once, the disk gets them together.

    machines --put, delete, delete_range--> staged --take--> Changes --> Disk.apply
        ^                                     |
        '------- get, range: staged over disk-'

Records wait as structs and are encoded when the batch is taken, so a row that is changed ten
times in a batch is encoded once, and one that comes and goes within it leaves no trace at all.
For that the caller must know that the row is new (`fresh`): a delete may only be forgotten when
the disk holds nothing under the key.

Within a batch a `delete_range` comes before the puts (see `Changes`).  Here it comes when it is
called: it drops what was staged in the range until then, and what is put later stays.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import Any

from reliquary.base.rows import Record, Table
from reliquary.store.disk import Changes, Reads


class StagedRows:
    """The port `Rows` on a disk, with the changes of the open batch."""

    def __init__(self, disk: Reads) -> None:
        self._disk = disk
        self._pending: dict[str, _TableChanges] = {}
        self.size = 0
        """The bytes of the rows that were staged with their sizes since the last `take`."""

    @property
    def is_empty(self) -> bool:
        """Return whether no change is staged."""
        for changed in self._pending.values():  # noqa: SIM110 - faster, and asked in every batch
            if changed.rows or changed.ranges:
                return False
        return True

    def take(self) -> Changes:
        """Return all staged changes, encoded for the disk; the next batch begins empty."""
        taken, self._pending = self._pending, {}
        self.size = 0
        changes = Changes()
        for name, changed in taken.items():
            if changed.ranges:
                changes.ranges += [(name, first, last) for first, last in changed.ranges]
            if changed.rows:
                changes.puts[name] = changed.table.encode_all(changed.rows)
        return changes

    def put(
        self, table: Table[Record], key: bytes, record: Record, *, fresh: bool = False, size: int = 0
    ) -> None:
        """Stage a row; `fresh` is True if the caller knows that no row exists under this key."""
        self.size += size
        changed = self._pending.get(table.name) or self._pending.setdefault(table.name, _TableChanges(table))
        rows = changed.rows
        if key not in rows:
            if fresh:  # not if a delete is staged, which must still reach the disk
                changed.fresh.add(key)
            if changed.order is not None:
                insort(changed.order, key)
        rows[key] = record

    def put_all(self, table: Table[Record], records: Mapping[bytes, Record], *, size: int = 0) -> None:
        """Stage many rows; the caller knows that no rows exist under their keys."""
        self.size += size
        changed = self._pending.get(table.name) or self._pending.setdefault(table.name, _TableChanges(table))
        if not changed.rows.keys().isdisjoint(records):
            for key, record in records.items():
                self.put(table, key, record, fresh=True)
            return
        changed.rows.update(records)
        changed.fresh.update(records)
        changed.order = None

    def delete_all(self, table: Table[Record], keys: Iterable[bytes]) -> None:
        """Stage the removal of many rows."""
        changed = self._pending.get(table.name) or self._pending.setdefault(table.name, _TableChanges(table))
        rows, fresh = changed.rows, changed.fresh
        changed.order = None
        for key in keys:
            if key in fresh:
                fresh.remove(key)
                del rows[key]
            else:
                rows[key] = None

    def delete(self, table: Table[Record], key: bytes) -> None:
        """Stage the removal of a row; a missing row is no error."""
        changed = self._pending.get(table.name) or self._pending.setdefault(table.name, _TableChanges(table))
        if key in changed.fresh:
            changed.forget(key)
            return
        if changed.order is not None and key not in changed.rows:
            insort(changed.order, key)
        changed.rows[key] = None

    def delete_range(self, table: Table[Record], first: bytes, last: bytes) -> None:
        """Stage the removal of all rows with first <= key < last."""
        if first < last:
            changed = self._pending.get(table.name) or self._pending.setdefault(
                table.name, _TableChanges(table)
            )
            changed.delete_range(first, last)

    def get(self, table: Table[Record], key: bytes) -> Record | None:
        """Return one record in the state of the open batch, or None."""
        changed = self._pending.get(table.name)
        if changed is not None:
            record: Record | None = changed.rows.get(key, _UNSTAGED)
            if record is not _UNSTAGED:
                return record
            if changed.ranges and changed.covers(key):
                return None
        value = self._disk.get(table.name, key)
        return None if value is None else table.decode(key, value)

    def range(
        self, table: Table[Record], first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, Record]]:
        """Return up to `limit` rows with first <= key < last, in the order of keys, or from the end."""
        if limit <= 0 or first >= last:
            return []
        changed = self._pending.get(table.name)
        if changed is None:
            unchanged = self._disk.range(table.name, first, last, limit=limit, reverse=reverse)
            return table.decode_all(unchanged)
        rows: list[tuple[bytes, Any]] = changed.live(first, last, limit, reverse)
        if not rows:
            return table.decode_all(self._unchanged(changed, first, last, limit, reverse))
        rows += self._unchanged(changed, first, last, limit, reverse)
        rows.sort(key=_by_key, reverse=reverse)
        return [(key, table.decode(key, row) if type(row) is bytes else row) for key, row in rows[:limit]]

    def _unchanged(
        self, changed: _TableChanges, first: bytes, last: bytes, limit: int, reverse: bool
    ) -> list[tuple[bytes, bytes]]:
        """Return up to `limit` rows of the disk that this batch does not change."""
        rows: list[tuple[bytes, bytes]] = []
        for low, high in changed.gaps(first, last, reverse):
            rows += self._unhidden(changed, low, high, limit - len(rows), reverse)
        return rows

    def _unhidden(
        self, changed: _TableChanges, first: bytes, last: bytes, limit: int, reverse: bool
    ) -> list[tuple[bytes, bytes]]:
        """Return the visible rows where no range is deleted: read growing pages as long as staged rows hide
        stored ones.
        """
        rows: list[tuple[bytes, bytes]] = []
        size = limit
        while len(rows) < limit:
            page = self._disk.range(changed.table.name, first, last, limit=size, reverse=reverse)
            rows += [row for row in page if row[0] not in changed.rows]
            if len(page) < size:
                break
            first, last = (first, page[-1][0]) if reverse else (page[-1][0] + b"\0", last)
            size *= 2
        return rows[:limit]


class _TableChanges:
    """The changes of the current batch to one table."""

    __slots__ = ("fresh", "order", "ranges", "rows", "table")

    def __init__(self, table: Table[Any]) -> None:
        self.table = table
        self.rows: dict[bytes, Any] = {}
        """The records by key; None for a deleted row."""
        self.fresh: set[bytes] = set()
        """The keys in `rows` that certainly do not exist on the disk."""
        self.ranges: list[tuple[bytes, bytes]] = []
        self.order: list[bytes] | None = None
        """The sorted keys of `rows`; created by the first range read and then kept up to date."""

    def forget(self, key: bytes) -> None:
        del self.rows[key]
        self.fresh.remove(key)
        if self.order is not None:
            del self.order[bisect_left(self.order, key)]

    def delete_range(self, first: bytes, last: bytes) -> None:
        covered = [key for key in self.rows if first <= key < last]
        for key in covered:
            del self.rows[key]
        self.fresh.difference_update(covered)
        self.ranges.append((first, last))
        self.order = None

    def covers(self, key: bytes) -> bool:
        """Return whether a deleted range includes this key."""
        return any(first <= key < last for first, last in self.ranges)

    def live(self, first: bytes, last: bytes, limit: int, reverse: bool) -> list[tuple[bytes, Any]]:
        """Return up to `limit` staged rows of a range, without the deleted ones."""
        if self.order is None:
            self.order = sorted(self.rows)
        begin, end = bisect_left(self.order, first), bisect_left(self.order, last)
        found: list[tuple[bytes, Any]] = []
        for place in range(end - 1, begin - 1, -1) if reverse else range(begin, end):
            key = self.order[place]
            if (record := self.rows[key]) is not None:
                found.append((key, record))
                if len(found) == limit:
                    break
        return found

    def gaps(self, first: bytes, last: bytes, reverse: bool) -> list[tuple[bytes, bytes]]:
        """Return the parts of a range that no deleted range covers, in the order in which they are read."""
        if not self.ranges:
            return [(first, last)]
        found = []
        for low, high in sorted(self.ranges):
            if first < low:
                found.append((first, min(low, last)))
            first = max(first, high)
            if first >= last:
                break
        if first < last:
            found.append((first, last))
        return found[::-1] if reverse else found


_UNSTAGED: Any = object()


def _by_key(row: tuple[bytes, Any]) -> bytes:
    return row[0]

"""Implements the disk with RocksDB: a column family for each table, a write batch for each batch.

    apply    write without sync: into the log file and the memtable, read by the next turn
    sync     `flush_wal(True)` releases the interpreter lock, so the loop continues;
             a write with sync=True would hold the lock through the fsync

How a store is opened, and when it is refused as damaged, is in `opening.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import cast
from uuid import UUID
from weakref import WeakSet

from rocksdict import Checkpoint, Rdict, RdictIter, ReadOptions, WriteBatch, WriteOptions

from reliquary.base.faults import StoreFailure, UsageError
from reliquary.base.restoration import Restoration
from reliquary.store import format as store_format
from reliquary.store import restored, tuning
from reliquary.store.disk import Changes, Reads
from reliquary.store.engine_errors import fault_of, translate_errors
from reliquary.store.mark import NIL_ID, Mark, manifest_of, write_mark
from reliquary.store.opening import LOWEST_LOG, open_database
from reliquary.store.witness import consult

_PATIENCE = 1000  # tombstones
_FEW = 32
"""The number of rows from which a range is read in bulk."""


class RocksDisk:
    """A `Disk` in a folder; any thread may read, one thread applies batches."""

    def __init__(
        self, folder: str | Path, tables: Iterable[str], *, create: bool = True, witness: Path | None = None
    ) -> None:
        self.folder = Path(folder)
        self.tables = tuple(tables)
        self._witness = witness
        with translate_errors(self.folder):
            self._db, self._mark = open_database(self.folder, self.tables, create=create)
            self.restoration = self._restoration()
            """The record of the restoration; None unless the store is older than the last state of its
            manager."""
        self._readers = {name: self._db.get_column_family(name) for name in self.tables}
        self._handles = {name: self._db.get_column_family_handle(name) for name in self.tables}
        self._checked = _checked_reads()
        self._unsynced = WriteOptions()
        self._unsynced.sync = False
        self._frozen: WeakSet[_FrozenRocks] = WeakSet()
        self._failure: Exception | None = None
        self._closed = False
        self._reclaimed = 0
        """The last change when memtables were last written to free space."""
        self._syncing = Lock()

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return the value of one row, or None."""
        try:
            value: bytes | None = self._readers[table].get(key, None, self._checked)
        except Exception as why:
            raise self._fault(why) from why
        return value

    def range(
        self, table: str, first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, bytes]]:
        """Return up to `limit` rows with first <= key < last, in the order of keys, or from the end."""
        if limit <= 0 or first >= last:
            return []
        try:
            return (_backward if reverse else _forward)(self._readers[table], first, last, limit)
        except Exception as why:
            raise self._fault(why) from why

    def frozen(self) -> Reads:
        """Return all rows in their state between two batches; any thread may call this."""
        self._must_be_usable()
        while True:
            before = self._db.latest_sequence_number()
            iterators = {name: reader.iter(_checked_reads()) for name, reader in self._readers.items()}
            if self._db.latest_sequence_number() == before:
                frozen = _FrozenRocks(self, iterators)
                self._frozen.add(frozen)
                return frozen

    def apply(self, changes: Changes) -> None:
        """Write a batch as a whole or not at all; reads see it at once, but a crash may still lose it."""
        if self._failure is not None or self._closed:
            self._must_be_usable()
        batch = self._batch(changes)
        try:
            self._db.write(batch, self._unsynced)
        except Exception as why:
            raise self._last_fault(why) from why

    def sync(self) -> None:
        """Wait until everything that was applied before this call is durable."""
        with self._syncing:
            if self._failure is not None or self._closed:
                self._must_be_usable()
            try:
                covered = self._db.latest_sequence_number()
                self._db.flush_wal(True)
                self._mark.move(covered, self._db.property_int_value(LOWEST_LOG) or 0)
            except Exception as why:
                raise self._last_fault(why) from why

    def reclaim(self) -> None:
        """Write the memtables to files, so that RocksDB can free the space of deleted rows.

        A file of deletions is merged soon with the rows that it deletes; in a memtable they would wait until
        it is full.  When it fails, RocksDB refuses the next write itself.
        """
        with self._syncing, suppress(Exception):
            number = 0 if self._closed else self._db.latest_sequence_number()
            if number > self._reclaimed:
                self._reclaimed = number
                for reader in list(self._readers.values()):
                    reader.flush()

    @property
    def owner(self) -> UUID | None:
        """Return the identifier of the manager whose store it is; None before its first start."""
        return None if self._mark.owner == NIL_ID else UUID(bytes=self._mark.owner)

    def belongs_to(self, owner: UUID) -> None:
        """Record durably, beside the rows, the manager whose store it is."""
        self._must_be_usable()
        with self._syncing, translate_errors(self.folder):
            self._mark.belongs_to(owner.bytes)
            if self._witness is not None:
                self._mark.call_witness(self._witness)

    def checkpoint(self, folder: Path) -> None:
        """Create a folder with the present files of the store; files that never change are linked."""
        self._must_be_usable()
        with translate_errors(folder):
            covered = self._db.latest_sequence_number()
            Checkpoint(self._db).create_checkpoint(str(folder))
            _, number, size = manifest_of(folder)
            write_mark(folder, Mark(covered, number, size, self._mark.owner))

    def _restoration(self) -> Restoration | None:
        """Return the record of a restoration, from the file RESTORED or from the witness.

        The content of the witness is stored durably before the witness is overwritten.
        """
        noted = restored.noted(self.folder)
        if self._witness is None:
            return noted
        found = self._db.latest_sequence_number()
        known = consult(self._witness, self._mark.owner, found, noted)
        if known is not None and known != noted:
            restored.note(self.folder, known)
        return known

    def restoration_begun(self) -> None:
        """Record that the era of a restored store is on disk."""
        if self.restoration is not None:
            with translate_errors(self.folder):
                restored.forget(self.folder)
            self.restoration = None

    def close(self) -> None:
        """Sync and release the folder; a second call does nothing."""
        if self._closed:
            return
        try:
            if self._failure is None:
                self.sync()
        finally:
            with self._syncing:
                self._let_go()

    def _let_go(self) -> None:
        self._closed = True
        # A column family or an iterator that is still referenced would keep the folder locked.
        self._readers, self._handles = {}, {}
        for frozen in self._frozen:
            frozen.iterators.clear()
        # This writes the memtables to files, so that the next start need not replay the log; a failure loses
        # nothing.
        with suppress(Exception):
            self._db.close()
        self._mark.close()

    def _batch(self, changes: Changes) -> WriteBatch:
        # This is a function of its own: the exception of a failed write keeps its frame alive, and no handle
        # may stay open with it.
        batch = WriteBatch(raw_mode=True)
        for table, first, last in changes.ranges:
            batch.delete_range(first, last, self._handles[table])
        for table, puts in changes.puts.items():
            handle = self._handles[table]
            for key, value in puts.items():
                if value is None:
                    batch.delete(key, handle)
                else:
                    batch.put(key, value, handle)
        return batch

    def _must_be_usable(self) -> None:
        if self._failure is not None:
            raise StoreFailure(
                getattr(self._failure, "kind", "io"), f"no work after a failed write: {self._failure}"
            )
        if self._closed:
            raise UsageError(f"the store in {self.folder} is closed")

    def _fault(self, why: Exception) -> Exception:
        self._must_be_usable()
        return fault_of(why, self.folder)

    def _last_fault(self, why: Exception) -> Exception:
        """Return the fault of a failed write; the disk does no more work after it, see `disk.py`."""
        self._failure = fault_of(why, self.folder)
        self._readers = {}  # so that reads need no test for a failure
        return self._failure


class _FrozenRocks:
    """The rows at one moment, for one thread; their files exist as long as this object.

    An iterator sees the rows of the moment when it was made.  A snapshot of rocksdict 0.3.29 would not do:
    its iterators see later rows too.
    """

    def __init__(self, disk: RocksDisk, iterators: dict[str, RdictIter]) -> None:
        self._disk = disk
        self.iterators = iterators

    def get(self, table: str, key: bytes) -> bytes | None:
        rows = self.range(table, key, key + b"\0", limit=1)
        return rows[0][1] if rows else None

    def range(
        self, table: str, first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, bytes]]:
        try:
            return _of_one_moment(self.iterators[table], first, last, limit, reverse)
        except Exception as why:
            raise self._disk._fault(why) from why


def tables_in(folder: str | Path) -> list[str]:
    """Return the names of the tables in the folder of a store."""
    folder = Path(folder)
    with translate_errors(folder):
        store_format.claim(folder, create=False)
        names = Rdict.list_cf(str(folder), tuning.database(tuning.strict()))
    return [name for name in names if name != "default"]


def _checked_reads(*, before: bytes | None = None, patience: int = 0) -> ReadOptions:
    """Return read options that detect a corrupted block and end before a key, so before other queues'
    tombstones.

    There is no bound below: in rocksdict 0.3.29 `set_iterate_lower_bound` sets the upper one.
    With patience, a read that skips more tombstones than that gives up as "Result incomplete".
    """
    options = ReadOptions()
    options.set_verify_checksums(True)
    if before is not None:
        options.set_iterate_upper_bound(before)
    if patience:
        options.set_max_skippable_internal_keys(patience)
    return options


def _of_one_moment(
    found: RdictIter, first: bytes, last: bytes, limit: int, reverse: bool
) -> list[tuple[bytes, bytes]]:
    rows: list[tuple[bytes, bytes]] = []
    if reverse:
        found.seek_for_prev(last)
        if found.valid() and found.key() == last:
            found.prev()
    else:
        found.seek(first)
    while len(rows) < limit and found.valid() and first <= found.key() < last:
        rows.append((found.key(), found.value()))
        (found.prev if reverse else found.next)()
    found.status()
    return rows


def _forward(reader: Rdict, first: bytes, last: bytes, limit: int) -> list[tuple[bytes, bytes]]:
    # `reader.items()` alone is not enough: it ends at a damaged block as if the table ended there, so the end
    # is always checked. It is fast, as one call returns a row.
    found = reader.iter(_checked_reads(before=last))
    rows: list[tuple[bytes, bytes]] = []
    key, value, step, more, keep = found.key, found.value, found.next, found.valid, rows.append
    found.seek(first)
    while more():
        keep((key(), value()))
        if len(rows) == limit:  # no step after the last row: tombstones may follow
            return rows
        if len(rows) == _FEW and limit > 2 * _FEW:
            options = _checked_reads(before=last)
            # A long range is read once; the cache is for rows that are read often. The stub lacks the
            # argument.
            options.fill_cache(False)  # type: ignore[call-arg]
            many = reader.items(from_key=key() + b"\0", read_opt=options)
            rows += islice(cast("Iterator[tuple[bytes, bytes]]", many), limit - _FEW - 1)
            found.seek(rows[-1][0] + b"\0")
        else:
            step()
    found.status()
    return rows


def _backward(reader: Rdict, first: bytes, last: bytes, limit: int) -> list[tuple[bytes, bytes]]:
    """Return rows from the end, and read nothing below `first`, where many tombstones of another queue may
    be.

    Usually the limit or a live row of the neighbour ends the walk.  When there are only tombstones to
    be seen, it asks from the front for the lowest row of the range, and walks down no further than that.
    """
    try:
        return _down(reader, _checked_reads(before=last, patience=_PATIENCE), first, limit)
    except Exception as why:
        if "Result incomplete" not in str(why):
            raise
    lowest = _forward(reader, first, last, 1)
    return _down(reader, _checked_reads(before=last), lowest[0][0], limit) if lowest else []


def _down(reader: Rdict, options: ReadOptions, lowest: bytes, limit: int) -> list[tuple[bytes, bytes]]:
    found = reader.iter(options)
    rows: list[tuple[bytes, bytes]] = []
    found.seek_to_last()
    while found.valid() and (key := found.key()) >= lowest:
        rows.append((key, found.value()))
        if len(rows) == limit or key == lowest:
            return rows
        found.prev()
    found.status()
    return rows

"""Writes the mark: a file beside the write-ahead logs with the position up to which data is synced.

A log that ends in a torn record can mean two things: the power went while unsynced batches were on
their way, which is harmless, or a synced part was corrupted or cut off, which is damage.  The log
itself cannot show which, and a missing log shows nothing at all.  So after every sync the mark is
written, without a sync of its own:

    the process ends     the page is in the kernel, the mark is exact
    the power goes       the mark may be some seconds old: still a true lower bound

It is never ahead of the files.  It has the synced position, the logs that hold a part of it, the
length of the MANIFEST, and the owner of the store; `opening.py` compares that with the folder.

Two slots are written in turn, each in a page of its own, so that a torn or corrupted slot leaves the
mark of the sync before.  A store of `format.VERSION` always has a mark; it is damaged where no slot can be
read.

    slot: | magic: 4 | crc32: 4 | generation: 8 | synced: 8 | manifest: 8, size: 8 | owner: 16 | logs: 2 |
          | number: 8, first change: 8 | for each log
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from struct import Struct as Layout
from struct import error as LayoutError  # noqa: N812 - it is a class
from typing import Final, NamedTuple
from zlib import crc32

from reliquary.store import witness
from reliquary.store.files import sync_file, write_durably
from reliquary.store.logs import first_change, number_of

NAME: Final = "SYNCED"
SLOT: Final = 4096
MOST_LOGS: Final = 200
"""The largest number of logs in a mark; a store never has more, and of more the oldest would be written."""
NIL_ID: Final = bytes(16)
NEVER: Final = 2**64
"""A number above every sequence number."""
_MAGIC: Final = b"RQM2"
_OPENING: Final = Layout(">4sI")
_COUNTS: Final = Layout(">QQ")
_FILES: Final = Layout(">QQ16sH")
_LOG: Final = Layout(">QQ")


class LogStart(NamedTuple):
    """A log that must exist, and the sequence number of its first change."""

    number: int
    first: int


class Mark(NamedTuple):
    """The content of a mark file."""

    synced: int
    """The sequence number up to which all changes were synced."""
    manifest: int = 0
    """The number of the MANIFEST; 0 if it is not known."""
    manifest_size: int = 0
    """The number of bytes of the MANIFEST that were synced."""
    owner: bytes = NIL_ID
    """The identifier of the manager whose store it is; zeros before its first start."""
    logs: tuple[LogStart, ...] = ()
    """The logs that were needed and that hold synced changes."""
    generation: int = 0
    """A number that grows with each write; the slot with the higher number is valid."""


class Manifest(NamedTuple):
    """The MANIFEST of a folder: RocksDB's list of its sorted files."""

    path: str
    number: int
    size: int


def manifest_of(folder: Path) -> Manifest:
    """Return the MANIFEST of a folder; without a path while RocksDB is replacing it."""
    try:
        path = folder / (folder / "CURRENT").read_text().strip()
        return Manifest(os.fspath(path), int(path.name.rpartition("-")[2]), path.stat().st_size)
    except FileNotFoundError:
        return Manifest("", 0, 0)


class SyncedMark:
    """The mark of an open store: it reads the folder and records what is synced."""

    def __init__(self, folder: Path, synced: int, lowest: int, owner: bytes = NIL_ID) -> None:
        self.folder = folder
        self._place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        """The descriptor of the folder: a call with it costs less than a call with the path."""
        self._changed = 0
        """The modification time of the folder when its logs were last listed."""
        self._lowest = -1
        self._logs: dict[int, int] = {}
        """The logs from `lowest` on, with their first changes; 0 if a log has no record yet."""
        self._starts = 0
        """The first change of the last log: the log is in the mark only after that change is synced."""
        self._manifest = Manifest("", 0, 0)
        self._manifest_file = -1
        """The open MANIFEST; -1 while RocksDB replaces it."""
        self._mark = Mark(synced, owner=owner)
        """The content of the last write, without the two numbers that every write changes."""
        self._synced = synced
        self._generation = 0
        self._witness = -1
        """The open file of the witness; -1 if there is none."""
        self._rest = b""
        """The part of a slot that changes rarely."""
        self._look(synced, lowest)
        write_mark(folder, self._mark)
        self._file = os.open(folder / NAME, os.O_WRONLY | os.O_CLOEXEC)

    def move(self, synced: int, lowest: int) -> None:
        """Record that all changes up to this sequence number are synced, and that logs below `lowest` are
        obsolete.

        It runs after every sync, so it calls no other function of this project unless a file was created,
        deleted or extended.
        """
        changed = self._manifest_file < 0 or lowest != self._lowest or self._starts > self._synced
        if not changed:
            manifest = os.fstat(self._manifest_file)
            is_gone = not manifest.st_nlink  # RocksDB began another MANIFEST
            changed = is_gone or manifest.st_size != self._manifest.size
        if changed or os.fstat(self._place).st_mtime_ns != self._changed:
            self._look(synced, lowest)
        self._synced = synced
        self._generation = generation = self._generation + 1
        body = _COUNTS.pack(generation, synced) + self._rest
        os.pwrite(self._file, _OPENING.pack(_MAGIC, crc32(body)) + body, generation % 2 * SLOT)
        if self._witness >= 0:
            body = witness.BODY.pack(self._mark.owner, synced)
            try:
                os.pwrite(self._witness, witness.OPENING.pack(witness.MAGIC, crc32(body)) + body, 0)
            # the file may be on another disk, and no caller has an acknowledgement that depends on it
            except OSError:
                self._dismiss_witness()

    def call_witness(self, path: Path) -> None:
        """Write the position of the store also to a file outside the folder from now on, if the store has an
        owner."""
        self._dismiss_witness()
        if self._mark.owner != NIL_ID:
            self._witness = witness.begin(path, self._mark.owner, self._synced)

    def _dismiss_witness(self) -> None:
        if self._witness >= 0:
            os.close(self._witness)
        self._witness = -1

    def belongs_to(self, owner: bytes) -> None:
        """Record the owner of the store in both slots, synced; this happens once per store."""
        if self._mark.owner == owner:
            return
        self._mark = self._mark._replace(owner=owner)
        self._rest = _seldom_changed(self._mark)
        for _ in range(2):
            self.move(self._synced, self._lowest)
        os.fsync(self._file)

    @property
    def owner(self) -> bytes:
        """Return the identifier of the manager whose store it is; zeros before its first start."""
        return self._mark.owner

    def close(self) -> None:
        """Close the files of the mark."""
        os.close(self._file)
        os.close(self._place)
        self._open_manifest("")
        self._dismiss_witness()

    def _look(self, synced: int, lowest: int) -> None:
        """Read which logs exist; a log without a synced change may be lost in a power cut."""
        self._changed = os.fstat(self._place).st_mtime_ns
        self._lowest = lowest
        found: dict[int, int] = {}
        for path in self.folder.glob("*.log"):
            number = number_of(path)
            if number >= lowest:
                with suppress(FileNotFoundError):  # it became obsolete meanwhile
                    found[number] = self._logs.get(number) or first_change(path)
        self._logs = found
        needed = sorted(LogStart(*each) for each in found.items() if 0 < each[1] <= synced)
        self._starts = max((each or NEVER for each in found.values()), default=0)
        manifest = manifest_of(self.folder)
        if manifest.path != self._manifest.path or self._manifest_file < 0:
            self._open_manifest(manifest.path)
        if manifest != self._manifest and manifest.path:
            sync_file(Path(manifest.path))  # RocksDB may be about to sync it
        self._manifest = manifest
        self._mark = self._mark._replace(
            manifest=manifest.number, manifest_size=manifest.size, logs=tuple(needed[:MOST_LOGS])
        )
        self._rest = _seldom_changed(self._mark)

    def _open_manifest(self, path: str) -> None:
        """Open the MANIFEST with this path, or none for an empty path, and close the one before."""
        if self._manifest_file >= 0:
            os.close(self._manifest_file)
        self._manifest_file = -1
        if path:
            with suppress(FileNotFoundError):  # RocksDB is replacing it now
                self._manifest_file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def encode_slot(mark: Mark) -> bytes:
    """Return one slot: a checksum, and the content that it covers."""
    body = _COUNTS.pack(mark.generation, mark.synced) + _seldom_changed(mark)
    return _OPENING.pack(_MAGIC, crc32(body)) + body


def _seldom_changed(mark: Mark) -> bytes:
    logs = b"".join(_LOG.pack(*log) for log in mark.logs)
    return _FILES.pack(mark.manifest, mark.manifest_size, mark.owner, len(mark.logs)) + logs


def decode_slot(slot: bytes) -> Mark | None:
    """Return the mark in a slot; None if the slot was corrupted."""
    try:
        magic, checksum = _OPENING.unpack_from(slot)
        generation, synced = _COUNTS.unpack_from(slot, _OPENING.size)
        manifest, size, owner, count = _FILES.unpack_from(slot, _OPENING.size + _COUNTS.size)
    except LayoutError:
        return None
    start = _OPENING.size + _COUNTS.size + _FILES.size
    end = start + count * _LOG.size
    if magic != _MAGIC or end > len(slot) or crc32(slot[_OPENING.size : end]) != checksum:
        return None
    logs = tuple(LogStart(*_LOG.unpack_from(slot, place)) for place in range(start, end, _LOG.size))
    return Mark(synced, manifest, size, owner, logs, generation)


def write_mark(folder: Path, mark: Mark) -> None:
    """Write a mark in both slots for a folder that no process has open."""
    write_durably(folder / NAME, encode_slot(mark).ljust(SLOT, b"\0") * 2)


def read_mark(folder: Path) -> Mark | None:
    """Return the mark of a folder; None if it has none, or only corrupted ones."""
    try:
        content = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return None
    slots = [decode_slot(content[:SLOT]), decode_slot(content[SLOT : 2 * SLOT])]
    found = [slot for slot in slots if slot is not None]
    return max(found, key=lambda mark: mark.generation) if found else None

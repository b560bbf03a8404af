"""Reads the sequence numbers in the write-ahead logs of RocksDB.

RocksDB checks the checksum of each record that it finds.  It does not notice a record, or a whole log, that
is no longer there: the changes before it and after it are replayed as if nothing had been between them.  The
sequence numbers in the records show the gap.

    000008.log  | changes 1 to 70 |           a log is blocks of 32 KB, a block is fragments:
    000010.log  | changes 71 to 140 |
    000012.log  | changes 141 to ... |        | crc: 4 | length: 2 | type: 1 | payload |

A record is one FULL fragment, or FIRST, MIDDLE ... and LAST.  Its payload is a write batch, which opens with
the sequence number of its first change (8 bytes) and the number of its changes (4 bytes).  Checksums are not
looked at here: RocksDB does that when it replays the logs.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct as Layout
from typing import Final, NamedTuple

BLOCK: Final = 32768
_HEADER: Final = Layout("<4xHB")  # without the checksum
_BATCH: Final = Layout("<QI")
_HEADER_AND_BATCH: Final = Layout("<4xHBQI")

# Types of fragments; those above LAST have no changes, or have 4 added if the header also has the number of
# the log (4 bytes).
_ZERO, _FULL, _FIRST, _LAST, _LAST_RECYCLABLE = 0, 1, 2, 4, 8


class Log(NamedTuple):
    """One log file: the records up to the first one that is not valid."""

    path: Path
    number: int
    first: int
    """The sequence number of its first change; 0 if it has no record."""
    last: int
    """The sequence number of its last change before a gap or a torn record."""
    end: int
    """The offset after the record with the last change."""
    has_gap: bool
    """Whether another record follows after `end` and does not continue the numbers."""


def logs_in(folder: Path) -> list[Log]:
    """Return all logs of a folder, in the order in which they were written."""
    return [read_log(path) for path in sorted(folder.glob("*.log"), key=number_of)]


def bytes_of_logs(folder: Path) -> int:
    """Return the size of all logs of a folder; RocksDB may delete some meanwhile."""
    size = 0
    with suppress(OSError):
        for path in folder.glob("*.log"):
            with suppress(OSError):
                size += path.stat().st_size
    return size


def number_of(path: Path) -> int:
    """Return the number in the name of a log; -1 for a file with another name, which is no log of RocksDB."""
    return int(path.stem) if path.stem.isdecimal() else -1


def read_log(path: Path) -> Log:
    """Read the sequence numbers of one log."""
    first = last = end = 0
    has_gap = False
    with path.open("rb") as file:
        if path.stat().st_size:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                for start, changes, behind in _records(content):
                    if start != last + 1 and first:
                        has_gap = True
                        break
                    first = first or start
                    last = start + changes - 1
                    end = behind
    return Log(path, number_of(path), first, last, end, has_gap)


def first_change(path: Path) -> int:
    """Return the sequence number of the first change in a log; 0 if it has no record."""
    with path.open("rb") as file:
        opening = file.read(2 * BLOCK)
    return next((first for first, _, _ in _records(opening, whole=False)), 0)


def _records(content: bytes | mmap.mmap, *, whole: bool = True) -> Iterator[tuple[int, int, int]]:
    """Yield first change, number of changes and end of each record, up to the first torn record.

    Zeros in place of a header hide the rest of their block, as RocksDB reads it.  Without `whole`, a record
    counts as soon as its first twelve bytes are there.
    """
    place, size, head, is_open = 0, len(content), b"", False
    quick, quick_size, header_size = _HEADER_AND_BATCH.unpack_from, _HEADER_AND_BATCH.size, _HEADER.size
    while place + header_size <= size:
        left = BLOCK - place % BLOCK
        if left < header_size:
            place += left
            continue
        if left >= quick_size and place + quick_size <= size:  # almost every record is one fragment
            length, kind, first, changes = quick(content, place)
            behind = place + header_size + length
            if kind == _FULL and not is_open and length >= _BATCH.size and behind <= size:
                if header_size + length > left:
                    return
                place = behind
                yield first, changes, place
                continue
        length, kind = _HEADER.unpack_from(content, place)
        if kind == _ZERO and length == 0:
            place += left
            is_open = False
            continue
        begin = place + header_size
        if _LAST < kind <= _LAST_RECYCLABLE:
            kind, begin = kind - _LAST, begin + 4
        behind = begin + length
        if behind - place > left or (behind > size and whole):
            return
        place = behind
        if kind > _LAST:
            continue
        is_start = kind in (_FULL, _FIRST)
        if is_start == is_open:
            return
        is_open = kind not in (_FULL, _LAST)
        if is_start:
            head = b""
        if len(head) < _BATCH.size:
            head += content[begin : min(behind, begin + _BATCH.size)]
        if not is_open or (not whole and len(head) >= _BATCH.size):
            if len(head) < _BATCH.size:
                return
            first, changes = _BATCH.unpack_from(head)
            yield first, changes, place

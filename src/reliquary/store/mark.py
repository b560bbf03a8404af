"""The synced mark: a lower bound of what is safe, kept beside the write-ahead log.

A log that ends in a torn record can mean two things: the power went while unsynced batches were on
their way, which is harmless, or a synced part rotted or was cut off, which is damage.  The log
itself cannot tell.  So after every sync the sequence number that it covered is written here,
without a sync of its own:

    the process dies     the page is in the kernel, the mark is exact
    the power goes       the mark may be some seconds old: still a true lower bound

It is never ahead of the log.  When the log reaches at least to the mark, its torn end is the
harmless kind; when it does not, something that was safe is gone, and the store says so.

    | sequence number: 8 | crc32: 4 |
"""

from __future__ import annotations

import os
from pathlib import Path
from struct import Struct as Layout
from typing import Final
from zlib import crc32

NAME: Final = "SYNCED"
_NUMBER: Final = Layout(">Q")
_MARK: Final = Layout(">QI")


class SyncedMark:
    """The mark of an open store."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def move(self, number: int) -> None:
        """Note that everything up to this sequence number is safe."""
        os.pwrite(self._file, _MARK.pack(number, crc32(_NUMBER.pack(number))), 0)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def read_mark(folder: Path) -> int | None:
    """The last sequence number that is known to be safe; None when there is no mark or a torn one."""
    try:
        content = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return None
    if len(content) != _MARK.size:
        return None
    number, checksum = _MARK.unpack(content)
    return int(number) if checksum == crc32(_NUMBER.pack(number)) else None

"""Keeps RESERVE, a file that only takes disk space, so that some is free when the disk is full.

RocksDB needs room to open a store: the changes in its logs become sorted files before the logs go.  The
largest part of a full store is messages, and to receive them the store must be open.  So a file of its own
keeps as much as the logs may need; it is deleted when the disk is full, and created again when there is room.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

NAME: Final = "RESERVE"


class Reserve:
    """The reserve of one store with `size` bytes; 0 means no reserve."""

    def __init__(self, folder: Path, size: int) -> None:
        self._path = folder / NAME
        self.size = size

    @property
    def held(self) -> int:
        """Return the number of bytes of the file."""
        try:
            return self._path.stat().st_blocks * 512
        except OSError:
            return 0

    def make(self) -> bool:
        """Create the file; return False without space, or if the file system cannot allocate space in
        advance."""
        if not self.size or self.held >= self.size:
            return bool(self.size)
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        try:
            os.posix_fallocate(file, 0, self.size)
        except OSError:
            self.release()
            return False
        finally:
            os.close(file)
        return True

    def release(self) -> int:
        """Delete the file, and return its number of bytes."""
        held = self.held
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        return held

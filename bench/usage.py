"""What a process has used so far, by the files of /proc: the difference of two of them is a cost.

Rates mean little on a busy machine; processor time and bytes for a message mean something on any.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
BACKGROUND = "rocksdb:"
"""How the names of RocksDB's own threads begin: they write memtables to files, and merge files."""


class Usage(NamedTuple):
    """Seconds of the processor, and bytes that went through system calls."""

    foreground: float = 0.0
    background: float = 0.0
    """The part of RocksDB's own threads."""
    written: float = 0.0
    read: float = 0.0

    @property
    def processor(self) -> float:
        """The time of all threads."""
        return self.foreground + self.background

    def since(self, before: Usage) -> Usage:
        """Return what was used between two moments."""
        return Usage(*(now - then for now, then in zip(self, before, strict=True)))

    def each(self, messages: int) -> Usage:
        """Return the share of one message."""
        return Usage(*(value / messages for value in self))


def usage_of(process: Path) -> Usage:
    """Return what the process of this folder of /proc has used."""
    background = 0.0
    for task in (process / "task").iterdir():
        name, seconds = time_of((task / "stat").read_text())
        background += seconds if name.startswith(BACKGROUND) else 0.0
    _, whole = time_of((process / "stat").read_text())  # with the time of threads that have ended
    transferred = dict(line.split(": ") for line in (process / "io").read_text().splitlines())
    return Usage(whole - background, background, float(transferred["wchar"]), float(transferred["rchar"]))


def time_of(stat: str) -> tuple[str, float]:
    """Return the name of a process or thread, which may hold any character, and its seconds."""
    head, rest = stat.rsplit(")", 1)
    fields = rest.split()
    return head.split("(", 1)[1], (int(fields[11]) + int(fields[12])) / _TICKS

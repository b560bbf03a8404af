"""How much memory and how many descriptors a server process has, as the system counts them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEGABYTE = 1024 * 1024


class Growth:
    """The growth of a process in megabytes, from its beginning to its largest moment."""

    megabytes = 0.0


@contextmanager
def growth_of(pid: int) -> Iterator[Growth]:
    """Measure the peak of the resident memory of a process inside the block, against its start."""
    (Path("/proc") / str(pid) / "clear_refs").write_text("5")  # proc(5): begins a new peak
    before, growth = _status(pid, "VmRSS"), Growth()
    yield growth
    growth.megabytes = (_status(pid, "VmHWM") - before) / 1024


def descriptors_of(pid: int) -> int:
    """Return how many descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def _status(pid: int, name: str) -> int:
    """Return a number of kilobytes in the status of a process."""
    for line in (Path("/proc") / str(pid) / "status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise AssertionError(f"the status of {pid} has no {name}")

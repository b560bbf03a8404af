"""Whether every confirm waited for a sync, seen from outside with strace.

One producer sends one message at a time and no consumer receives, so syncs serve confirms alone.  strace
counts them and holds each for some milliseconds: a confirm that came sooner than that did not wait for one.
Between two messages the producer pauses for longer than that, so that no message waits for the sync of the
one before it, as it does where a server confirms first and syncs then.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from bench.peers.peer import family

CALLS = "fsync,fdatasync,sync_file_range,msync,sync,syncfs"
HELD_MS = 20
"""Milliseconds that each sync is held."""
PAUSE = 3 * HELD_MS / 1000
"""Seconds from a confirm to the next message."""


class Proof(msgspec.Struct, frozen=True):
    """The confirms and syncs of one peer that strace counted."""

    peer: str
    confirms: int
    syncs: int
    fastest_confirm_ms: float

    @property
    def holds(self) -> bool:
        """Return whether each confirm had a sync, and none came before its sync had ended."""
        return 0 < self.confirms <= self.syncs and self.fastest_confirm_ms >= HELD_MS


class NotWatched(Exception):
    """strace may not follow a server, with what it said."""


class Watch:
    """The number of syncs while it ran; known when the block is left."""

    syncs = 0


@contextmanager
def watched(pid: int, folder: Path) -> Iterator[Watch]:
    """Hold and count all syncs of a server and its children while the block runs."""
    output, pids = folder / "strace", family(pid)
    command = ["strace", "-f", "-c", "-o", str(output), "-e", f"trace={CALLS}"]
    command += ["-e", f"inject={CALLS}:delay_exit={HELD_MS * 1000}"]
    command += [word for each in pids for word in ("-p", str(each))]
    watch = Watch()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        said = "".join(tracer.stderr.readline() for _ in pids)
        try:
            if "attached" not in said:
                raise NotWatched(said.strip())
            yield watch
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate()
    watch.syncs = counted(output.read_text())


def counted(table: str) -> int:
    """Return the calls in a table that `strace -c` wrote."""
    names = set(CALLS.split(","))
    rows = (line.split() for line in table.splitlines())
    return sum(int(row[3]) for row in rows if len(row) >= 5 and row[-1] in names)


def proof(peer: str, figures: dict[str, Any], syncs: int) -> Proof:
    """Return the verdict on a load of one producer with one message at a time."""
    return Proof(peer, figures["sent"], syncs, round(figures["confirm"]["least_ms"], 2))

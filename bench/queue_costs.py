"""What one message of the queue benchmark costs: the floor, Python calls, system calls, time by stage.

Each needs a server of its own, because to count calls slows it down; a sample costs next to nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from time import sleep
from typing import Any, Final

from bench.server import DATA_PORT, Server, run_load
from bench.stages import STAGES

WARM_UP: Final = 1
"""Seconds of load before anything is observed."""


def floor_of(folder: Path, load: dict[str, object]) -> float:
    """Return the microseconds that a bare listener needs for the request of a send, by its messages."""
    with Server(folder / "floor", program=("bench.floor", str(DATA_PORT))) as server:
        load = load | {"host": server.host, "port": server.port, "queue": "bench", "consume": False}
        run_load(load | {"seconds": WARM_UP})
        used = server.cpu_seconds()
        figures = run_load(load)
        used = server.cpu_seconds() - used
    microseconds: float = used / figures["sent"] * 1e6
    return microseconds


def calls_of(folder: Path, load: dict[str, object]) -> float:
    """Return the calls of functions of Reliquary for a message, in the loop's thread."""
    observed, messages = _observe("calls", folder, load)
    calls: int = observed["calls"]
    return round(calls / messages, 1)


def profile_of(folder: Path, load: dict[str, object]) -> dict[str, Any]:
    """Return the microseconds of processor time for a message, by stage and by line of the source."""
    observed, messages = _observe("samples", folder, load)

    def each(seconds: float) -> float:
        return seconds / messages * 1e6

    stages = {stage: each(seconds) for stage, seconds in observed["stages"].items()}
    stages["threads"] = each(observed["process"] - observed["loop_thread"])
    return {
        "samples": observed["samples"],
        "stages": stages,
        "total": each(observed["process"]),
        "lines": {line: each(seconds) for line, seconds in observed["lines"].items()},
    }


def _observe(what: str, folder: Path, load: dict[str, object]) -> tuple[dict[str, Any], int]:
    """Run a load against a server that observes itself; return that, and the number of messages."""
    file = folder.with_suffix(".json")
    with Server(folder, program=("bench.observed", what, str(file))) as server:
        server.create_queue("bench")
        load = load | {"host": server.host, "port": server.port, "queue": "bench"}
        run_load(load | {"seconds": WARM_UP})
        os.kill(server.pid, signal.SIGUSR1)
        figures = run_load(load)
        os.kill(server.pid, signal.SIGUSR2)
        while not file.exists():
            sleep(0.05)
    observed: dict[str, Any] = json.loads(file.read_text())
    return observed, figures["acknowledged_in_all"]


def system_calls_of(folder: Path, load: dict[str, object]) -> float | None:
    """Return the system calls for a message, or None where strace is not there or may not trace."""
    if shutil.which("strace") is None:
        return None
    file = folder.with_suffix(".strace")
    with Server(folder) as server:
        server.create_queue("bench")
        load = load | {"host": server.host, "port": server.port, "queue": "bench"}
        run_load(load | {"seconds": WARM_UP})
        command = ["strace", "-f", "-c", "-U", "calls,name", "-o", str(file), "-p", str(server.pid)]
        tracing = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert tracing.stderr is not None
        if "attached" not in tracing.stderr.readline():
            tracing.communicate()
            return None
        figures = run_load(load)
        tracing.send_signal(signal.SIGINT)
        tracing.communicate()
    total = next(line.split()[0] for line in file.read_text().splitlines() if line.endswith(" total"))
    messages: int = figures["acknowledged_in_all"]
    return round(int(total) / messages, 2)


def print_profile(rows: list[dict[str, Any]], lines: int) -> None:
    """Print a table of stages, and the most costly lines of each shape."""
    meanings = STAGES | {"threads": "other threads: syncs of larger batches, RocksDB's own work"}
    print("processor time of the server for one message, in microseconds; the middle of all rounds")
    print(f"{'stage':<9}", *(f"{row['shape']:>8}" for row in rows), "")
    for stage, meaning in meanings.items():
        print(f"{stage:<9}", *(f"{row['stages'][stage]:>8.1f}" for row in rows), f"  {meaning}")
    print(f"{'total':<9}", *(f"{row['total']:>8.1f}" for row in rows))
    print(f"{'samples':<9}", *(f"{row['samples']:>8}" for row in rows), flush=True)
    for row in rows if lines else ():
        print(f"\n{row['shape']}: the most costly lines, in microseconds for a message")
        for line, cost in list(row["lines"].items())[:lines]:
            print(f"{cost:>7.2f}  {line}")

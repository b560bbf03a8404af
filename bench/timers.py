"""What do a million pending delays and deadlines cost: open, memory, first receive, the next timer?"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import reliquary
from reliquary import Manager

RESULTS = Path(__file__).parent / "results"
MIB = 1024 * 1024
BATCH = 1000
FAR = 86_400
"""Seconds: none of them comes while we look."""


def main() -> None:
    """Fill a queue and open its store again; measure memory and time after each step."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
        figures = _measure(Path(folder) / "store", arguments.messages)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "timers.json").write_text(json.dumps(figures, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench timers", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--folder", default=None, help="the folder of the store")
    return parser.parse_args()


def _measure(folder: Path, pending: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"pending": pending}

    def note(name: str, value: float) -> None:
        figures[name] = round(value, 3)
        print(f"{name:<36} {figures[name]}", flush=True)

    with reliquary.connect(folder) as manager:
        manager.create_queue("bench")
        _fill(manager, BATCH)  # warms up
        note("next_timer_before_ms", _next_timer(manager))
        resident = _resident_bytes()
        start = perf_counter()
        _fill(manager, pending)
        note("fill_per_s", pending / (perf_counter() - start))
        note("memory_growth_mib", (_resident_bytes() - resident) / MIB)
        note("next_timer_ms", _next_timer(manager))
        note("bytes_on_disk_per_message", _on_disk(folder) / pending)
    start = perf_counter()
    with reliquary.connect(folder) as manager:
        note("open_s", perf_counter() - start)
        note("next_timer_after_opening_ms", _next_timer(manager))
        queue = manager.queue("bench")
        start = perf_counter()
        assert queue.receive() is None
        note("first_receive_ms", (perf_counter() - start) * 1000)
        figures["delayed"] = queue.info().delayed
    return figures


def _fill(manager: Manager, count: int) -> None:
    """Send messages that are delayed, and that expire later still."""
    queue = manager.queue("bench")
    for _ in range(count // BATCH):
        queue.send_many([b"x" * 100] * BATCH, delay=FAR, expires=2 * FAR)


def _next_timer(manager: Manager) -> float:
    """Return how late a message comes that is due in a tenth of a second."""
    queue = manager.queue("bench")
    start = perf_counter()
    queue.send(b"soon", delay=0.1)
    assert queue.receive(timeout=60) is not None
    return (perf_counter() - start - 0.1) * 1000


def _resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()

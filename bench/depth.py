"""What does a million messages in one queue cost: open, memory, first receive, rates?"""

from __future__ import annotations

import argparse
import json
import tempfile
import urllib.request
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.backlog import MIB, dequeue, enqueue
from bench.server import Server

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Fill a queue, restart its server and drain the queue; measure memory and rates after each step."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
        figures = _measure(Path(folder) / "store", arguments.messages, arguments.sample)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "depth.json").write_text(json.dumps(figures, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench depth", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--sample", type=int, default=50_000, help="messages that a rate is measured with")
    parser.add_argument("--folder", default=None, help="the folder of the store")
    return parser.parse_args()


def _measure(folder: Path, depth: int, sample: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"messages": depth}

    def note(name: str, value: float) -> None:
        figures[name] = round(value, 3)
        print(f"{name:<36} {figures[name]}", flush=True)

    with Server(folder) as server:
        note("open_empty_s", server.seconds_to_ready)
        server.create_queue("bench")
        _rates(server, sample)  # warms up
        for name, rate in zip(("enqueue_per_s", "dequeue_per_s"), _rates(server, sample), strict=True):
            note(name, rate)
        resident = server.resident_bytes()
        note("fill_per_s", enqueue(server, depth).rate)
        note("memory_growth_mib", (server.resident_bytes() - resident) / MIB)
    with Server(folder) as server:
        note("open_deep_s", server.seconds_to_ready)
        note("first_receive_ms", _first_receive(server))
        server.create_queue("empty")
        for name, ratio in zip(
            ("deep_enqueue_ratio", "deep_dequeue_ratio"), _ratios(server, sample), strict=True
        ):
            note(name, ratio)
        note("drain_per_s", dequeue(server, depth - 1).rate)
        names = ("drained_enqueue_ratio", "drained_dequeue_ratio")
        for name, ratio in zip(names, _ratios(server, sample), strict=True):
            note(name, ratio)
        note("memory_growth_at_the_end_mib", (server.resident_bytes() - resident) / MIB)
    return figures


def _rates(server: Server, sample: int, queue: str = "bench") -> tuple[float, float]:
    """Return the rates of enqueuing and then dequeuing `sample` messages."""
    return enqueue(server, sample, queue).rate, dequeue(server, sample, queue).rate


def _ratios(server: Server, sample: int) -> tuple[float, float]:
    """Return the rates of the deep queue to those of an empty one beside it; the middle of three rounds."""
    rounds = []
    for _ in range(3):
        empty, deep = _rates(server, sample, "empty"), _rates(server, sample)
        rounds.append((deep[0] / empty[0], deep[1] / empty[1]))
    return median(each[0] for each in rounds), median(each[1] for each in rounds)


def _first_receive(server: Server) -> float:
    request = urllib.request.Request(
        f"http://{server.host}:{server.port}/api/v1/queues/bench/receive", data=b"{}", method="POST"
    )
    start = perf_counter()
    urllib.request.urlopen(request).read()
    return (perf_counter() - start) * 1000


if __name__ == "__main__":
    main()

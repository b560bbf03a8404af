"""Measures the cost of the history: a server without it and a server with its export run one load in turn."""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.queue import RESULTS, SHAPES
from bench.server import DATA_PORT, Server, run_load
from bench.usage import time_of

GOAL = 1.08
"""The largest processor time for a message, divided by the time without a history."""


@dataclass
class Side:
    """One of the two servers, and the measurements of its rounds."""

    server: Server
    rates: list[float]
    processor: list[float]
    """Microseconds for a message, of all threads of the server."""
    loop: list[float]
    """Microseconds for a message, of the thread that answers requests."""

    def run(self, load: dict[str, object]) -> None:
        """Put one load on the server, and note what it used."""
        loop, all_threads = self._loop_seconds(), self.server.cpu_seconds()
        figures = run_load({"host": self.server.host, "port": self.server.port, "queue": "bench"} | load)
        each = 1e6 / figures["acknowledged_in_all"]
        self.rates.append(figures["acknowledged"] / figures["elapsed"])
        self.processor.append((self.server.cpu_seconds() - all_threads) * each)
        self.loop.append((self._loop_seconds() - loop) * each)

    def _loop_seconds(self) -> float:
        pid = self.server.pid
        return time_of(Path(f"/proc/{pid}/task/{pid}/stat").read_text())[1]


def main() -> None:
    """Measure one shape of load in rounds; each round has both servers, in turn first and second."""
    arguments = _arguments()
    with (
        tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder,
        ExitStack() as stack,
    ):
        off, on = (
            _started(stack, Path(folder) / name, DATA_PORT + 2 * place, history=name == "on")
            for place, name in enumerate(("off", "on"))
        )
        load = _load(arguments)
        for side in (off, on):
            run_load({"host": side.server.host, "port": side.server.port, "queue": "bench"} | load)
        print("round  msgs/s off, on    all threads, us off, on    loop, us off, on")
        for number in range(arguments.rounds):
            for side in (off, on) if number % 2 == 0 else (on, off):
                side.run(load)
            _print(number, off, on)
        figures = _figures(off, on) | _files(Path(folder) / "on" / "history")
    print(", ".join(f"{name} {value}" for name, value in figures.items()))
    RESULTS.mkdir(exist_ok=True)
    runs = [{"history": side is on, "processor": side.processor, "loop": side.loop} for side in (off, on)]
    (RESULTS / "history.json").write_text(json.dumps({"runs": runs, **figures}, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench history", description=__doc__)
    parser.add_argument("--shape", default="16x64", choices=SHAPES, help="which load to run")
    parser.add_argument("--seconds", type=float, default=4, help="how long each run takes")
    parser.add_argument("--rounds", type=int, default=8, help="runs of each server")
    parser.add_argument("--folder", default=None, help="where the stores lie")
    return parser.parse_args()


def _load(arguments: argparse.Namespace) -> dict[str, object]:
    names = ("producers", "in_flight", "consumers")
    return dict(zip(names, SHAPES[arguments.shape], strict=True)) | {"seconds": arguments.seconds}


def _started(stack: ExitStack, folder: Path, port: int, *, history: bool) -> Side:
    server = stack.enter_context(Server(folder, port=port, history_enabled=history))
    server.create_queue("bench")
    return Side(server, [], [], [])


def _print(number: int, off: Side, on: Side) -> None:
    pairs = ((off.rates, on.rates), (off.processor, on.processor), (off.loop, on.loop))
    columns = [f"{without[-1]:10.1f} {beside[-1]:10.1f}" for without, beside in pairs]
    print(f"{number + 1:>5}  {'   '.join(columns)}", flush=True)


def _figures(off: Side, on: Side) -> dict[str, Any]:
    """Return the ratios of the sums over all rounds, and the median of the ratios of single rounds."""
    pairs = [one / other for one, other in zip(on.processor, off.processor, strict=True)]
    return {
        "processor_ratio": round(sum(on.processor) / sum(off.processor), 3),
        "processor_ratio_middle": round(median(pairs), 3),
        "loop_ratio": round(sum(on.loop) / sum(off.loop), 3),
        "rate_ratio": round(median(on.rates) / median(off.rates), 3),
        "goal": GOAL,
        "us_more": round((sum(on.processor) - sum(off.processor)) / len(pairs), 2),
    }


def _files(folder: Path) -> dict[str, Any]:
    files = list(folder.rglob("*.parquet"))
    events = sum(int(file.stem[21:]) - int(file.stem[:20]) + 1 for file in files)
    size = sum(file.stat().st_size for file in files)
    return {"events_in_files": events, "bytes_per_event": round(size / events, 2) if events else 0}


if __name__ == "__main__":
    main()

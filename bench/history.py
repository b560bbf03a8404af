"""What does the history cost: one load without it, and with it and its export, in turn?"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from bench.queue import RESULTS, SHAPES
from bench.server import Server, run_load

GOAL = 0.92
"""The share of the rate without a history that must be reached."""


def main() -> None:
    """Measure one shape of load, several times each way."""
    arguments = _arguments()
    rows: list[dict[str, Any]] = []
    for place in range(arguments.rounds):
        ways = (False, True) if place % 2 == 0 else (True, False)
        for history in ways:
            with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
                rows.append(_measure(arguments, Path(folder), history=history))
            _print(rows[-1], header=len(rows) == 1)
    without, beside = ([row for row in rows if row["history"] is way] for way in (False, True))
    figures = {
        "rate_ratio": round(
            _middle(beside, "messages_per_second") / _middle(without, "messages_per_second"), 3
        ),
        "goal": GOAL,
        "cpu_us_per_message_more": round(
            _middle(beside, "server_cpu_us_per_message") - _middle(without, "server_cpu_us_per_message"), 2
        ),
        "bytes_per_event": round(_middle(beside, "bytes_per_event"), 1),
    }
    print(", ".join(f"{name} {value}" for name, value in figures.items()))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "history.json").write_text(json.dumps({"runs": rows, **figures}, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench history", description=__doc__)
    parser.add_argument("--shape", default="16x64", choices=SHAPES, help="which load to run")
    parser.add_argument("--seconds", type=float, default=8, help="how long each run takes")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind")
    parser.add_argument("--folder", default=None, help="where the store lies")
    return parser.parse_args()


def _measure(arguments: argparse.Namespace, folder: Path, *, history: bool) -> dict[str, Any]:
    producers, in_flight, consumers = SHAPES[arguments.shape]
    with Server(folder / "store", history_enabled=history) as server:
        server.create_queue("bench")
        load = {
            "host": server.host,
            "port": server.port,
            "queue": "bench",
            "producers": producers,
            "in_flight": in_flight,
            "consumers": consumers,
            "seconds": arguments.seconds,
        }
        run_load(load | {"seconds": 4})  # an export or two, so that Arrow is loaded
        cpu = server.cpu_seconds()
        figures = run_load(load)
        cpu = server.cpu_seconds() - cpu
    files = list((folder / "store" / "history").rglob("*.parquet"))
    events = sum(int(file.stem[21:]) - int(file.stem[:20]) + 1 for file in files)
    return {
        "shape": arguments.shape,
        "history": history,
        "messages_per_second": round(figures["acknowledged"] / figures["elapsed"]),
        "server_cpu_us_per_message": round(cpu / figures["acknowledged_in_all"] * 1e6, 2),
        "events_in_files": events,
        "bytes_per_event": sum(file.stat().st_size for file in files) / events if events else 0,
    }


def _middle(rows: list[dict[str, Any]], column: str) -> float:
    return median([float(row[column]) for row in rows])


def _print(row: dict[str, Any], *, header: bool) -> None:
    if header:
        print("shape   history  msgs/s  CPU us/msg  in files  bytes/event")
    way = "on" if row["history"] else "off"
    columns = ("messages_per_second", "server_cpu_us_per_message", "events_in_files")
    figures = " ".join(f"{row[column]:>11}" for column in columns)
    print(f"{row['shape']:<7} {way:<4} {figures} {row['bytes_per_event']:>12.1f}", flush=True)


if __name__ == "__main__":
    main()

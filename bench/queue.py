"""How many durable 1 KB messages a second go through the HTTP API, and what does each of them cost?"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.choices import some_of
from bench.queue_costs import calls_of, floor_of, print_profile, profile_of, system_calls_of
from bench.server import Server, run_load

SHAPES = {"1x1": (1, 1, 1), "16x1": (16, 1, 2), "16x64": (16, 64, 24)}
"""Producers, messages in flight for each, consumers."""
GOALS = {"1x1": 2_000, "16x1": 12_000, "16x64": 60_000}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure the shapes that are asked for, in rounds; or show where their time goes."""
    arguments = _arguments()
    shapes = arguments.shapes
    with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
        if arguments.profile:
            rows = _profile(shapes, Path(folder), arguments)
        else:
            rows = _measure(shapes, Path(folder), arguments)
    RESULTS.mkdir(exist_ok=True)
    name = "queue-profile" if arguments.profile else "queue"
    (RESULTS / f"{name}.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench queue", description=__doc__)
    parser.add_argument("--shapes", type=some_of(SHAPES), default=",".join(SHAPES), help="which loads to run")
    parser.add_argument("--seconds", type=float, default=8, help="how long each runs in a round")
    parser.add_argument("--rounds", type=int, default=3, help="how often each runs; the middle ones count")
    parser.add_argument("--folder", default=None, help="the folder of the store, whose disk is measured")
    parser.add_argument(
        "--profile", action="store_true", help="show where the processor time of a message goes"
    )
    parser.add_argument(
        "--lines", type=int, default=0, help="with --profile: how many of the most costly lines to print"
    )
    return parser.parse_args()


def _load_of(shape: str, seconds: float) -> dict[str, object]:
    producers, in_flight, consumers = SHAPES[shape]
    load: dict[str, object] = {"producers": producers, "in_flight": in_flight, "consumers": consumers}
    return load | {"seconds": seconds}


def _profile(shapes: list[str], folder: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Sample each shape once in a round, and print the sums."""
    rounds: dict[str, list[dict[str, Any]]] = {shape: [] for shape in shapes}
    for number in range(arguments.rounds):
        for shape in shapes:
            store = folder / f"{shape}-{number}"
            rounds[shape].append(profile_of(store, _load_of(shape, arguments.seconds)))
    rows = []
    for shape, profiles in rounds.items():
        stages = {name: median(each["stages"][name] for each in profiles) for name in profiles[0]["stages"]}
        lines = {line for each in profiles for line in each["lines"]}
        costs = {line: sum(each["lines"].get(line, 0) for each in profiles) / len(profiles) for line in lines}
        row = {"shape": shape, "samples": sum(each["samples"] for each in profiles), "stages": stages}
        row["total"] = median(each["total"] for each in profiles)
        row["lines"] = dict(sorted(costs.items(), key=lambda each: -each[1])[: max(arguments.lines, 100)])
        rows.append(row)
    print_profile(rows, arguments.lines)
    return rows


def _measure(shapes: list[str], folder: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure each shape and its floor in turn, several times; then count calls, in runs of their own."""
    rounds: dict[str, list[dict[str, Any]]] = {shape: [] for shape in shapes}
    for number in range(arguments.rounds):
        for shape in shapes:
            store = folder / f"{shape}-{number}"
            store.mkdir()
            rounds[shape].append(_measure_once(shape, store, arguments.seconds))
    rows = []
    for shape in shapes:
        counted = _load_of(shape, min(arguments.seconds, 4))
        row = _middle(rounds[shape]) | {
            "calls_per_message": calls_of(folder / f"{shape}-calls", counted),
            "system_calls_per_message": system_calls_of(folder / f"{shape}-system-calls", counted),
        }
        rows.append({"shape": shape, "goal": GOALS[shape]} | row)
        _print(rows[-1], header=len(rows) == 1)
    return rows


def _measure_once(shape: str, folder: Path, seconds: float) -> dict[str, Any]:
    load = _load_of(shape, seconds)
    producers, in_flight, _ = SHAPES[shape]
    floor = floor_of(folder, load | {"seconds": seconds / 2})
    before = appends(folder, producers * in_flight, seconds / 4)
    with Server(folder / "store") as server:
        server.create_queue("bench")
        load |= {"host": server.host, "port": server.port, "queue": "bench"}
        run_load(load | {"seconds": 1})
        syncs, cpu = server.metric("reliquary_syncs_total"), server.cpu_seconds()
        figures = run_load(load)
        syncs, cpu = server.metric("reliquary_syncs_total") - syncs, server.cpu_seconds() - cpu
    after = appends(folder, producers * in_flight, seconds / 4)
    rate = figures["acknowledged"] / figures["elapsed"]
    total = figures["acknowledged_in_all"]
    return {
        "messages_per_second": round(rate),
        "disk_messages_per_second": round((before + after) / 2),
        "ratio_to_disk": round(2 * rate / (before + after), 3),
        "syncs_per_message": round(syncs / total, 4),
        "server_cpu_us_per_message": round(cpu / total * 1e6, 1),
        "client_cpu_us_per_message": round(figures["processor_seconds"] / total * 1e6, 1),
        "floor_cpu_us_per_message": round(floor, 2),
        "ratio_to_floor": round(cpu / total * 1e6 / floor, 1),
        "confirm": figures["confirm"],
        "journey": figures["journey"],
    }


def _middle(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the middle of each figure over all rounds."""
    middle: dict[str, Any] = {}
    for name, first in rounds[0].items():
        values = [each[name] for each in rounds]
        middle[name] = _middle(values) if isinstance(first, dict) else median(values)
    return middle


def appends(folder: Path, messages: int, seconds: float) -> float:
    """Return messages a second that the disk takes as bare synced appends of `messages` at once."""
    block = os.urandom(1024) * messages
    path = folder / "appends"
    handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    count, start = 0, perf_counter()
    while perf_counter() - start < seconds:
        os.write(handle, block)
        os.fdatasync(handle)
        count += messages
    elapsed = perf_counter() - start
    os.close(handle)
    path.unlink()
    return count / elapsed


_COLUMNS = {
    "shape": "shape",
    "messages_per_second": "msgs/s",
    "goal": "goal",
    "disk_messages_per_second": "disk",
    "ratio_to_disk": "ratio",
    "server_cpu_us_per_message": "server us",
    "client_cpu_us_per_message": "client us",
    "floor_cpu_us_per_message": "floor us",
    "ratio_to_floor": "server/floor",
    "syncs_per_message": "syncs",
    "calls_per_message": "calls",
    "system_calls_per_message": "syscalls",
}


def _print(row: dict[str, Any], *, header: bool) -> None:
    if header:
        print(
            "processor time, syncs, Python calls and system calls are for one message; times in milliseconds"
        )
        print(*(f"{name:>9}" for name in _COLUMNS.values()), "  confirm p50/p99  journey p50/p99")
    cells = ("-" if row[column] is None else row[column] for column in _COLUMNS)
    widths = (max(9, len(name)) for name in _COLUMNS.values())
    confirm, journey = row["confirm"], row["journey"]
    print(
        *(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)),
        f"  {confirm['p50_ms']:.2f}/{confirm['p99_ms']:.2f}",
        f"       {journey['p50_ms']:.2f}/{journey['p99_ms']:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()

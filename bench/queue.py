"""How many durable 1 KB messages a second go through the HTTP API, and how close is that to the disk?"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.server import Server, run_load

SHAPES = {"1x1": (1, 1, 1), "16x1": (16, 1, 2), "16x64": (16, 64, 24)}
"""Producers, messages in flight for each, consumers."""
GOALS = {"1x1": 2_000, "16x1": 12_000, "16x64": 60_000}
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure the shapes that are asked for."""
    arguments = _arguments()
    rows = []
    for name in arguments.shapes.split(","):
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            rows.append(_measure(name, Path(folder), arguments.seconds))
        _print(rows[-1], header=len(rows) == 1)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "queue.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench queue", description=__doc__)
    parser.add_argument("--shapes", default="1x1,16x1,16x64", help="which loads to run")
    parser.add_argument("--seconds", type=float, default=8, help="how long each runs")
    parser.add_argument("--folder", default=None, help="where the store lies; its disk is what is measured")
    return parser.parse_args()


def _measure(name: str, folder: Path, seconds: float) -> dict[str, Any]:
    producers, in_flight, consumers = SHAPES[name]
    before = appends(folder, producers * in_flight, seconds / 4)
    with Server(folder / "store") as server:
        server.create_queue("bench")
        load = {
            "host": server.host,
            "port": server.port,
            "queue": "bench",
            "producers": producers,
            "in_flight": in_flight,
            "consumers": consumers,
            "seconds": seconds,
        }
        run_load(load | {"seconds": 1})
        syncs, cpu = server.metric("reliquary_syncs_total"), server.cpu_seconds()
        figures = run_load(load)
        syncs, cpu = server.metric("reliquary_syncs_total") - syncs, server.cpu_seconds() - cpu
    after = appends(folder, producers * in_flight, seconds / 4)
    rate = figures["acknowledged"] / figures["elapsed"]
    total = figures["acknowledged_in_all"]
    return {
        "shape": name,
        "messages_per_second": round(rate),
        "goal": GOALS[name],
        "disk_messages_per_second": round((before + after) / 2),
        "ratio_to_disk": round(2 * rate / (before + after), 3),
        "syncs_per_message": round(syncs / total, 4),
        "server_cpu_us_per_message": round(cpu / total * 1e6, 1),
        "confirm": figures["confirm"],
        "journey": figures["journey"],
    }


def appends(folder: Path, messages: int, seconds: float) -> float:
    """Messages a second that the disk takes as bare synced appends of so many at once."""
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


def _print(row: dict[str, Any], *, header: bool) -> None:
    if header:
        print(
            "shape   msgs/s    goal   disk    ratio  syncs/msg  CPU us/msg  confirm p50/p99  journey p50/p99"
        )
    confirm, journey = row["confirm"], row["journey"]
    columns = ("messages_per_second", "goal", "disk_messages_per_second", "ratio_to_disk")
    figures = " ".join(f"{row[column]:>8}" for column in columns)
    print(
        f"{row['shape']:<6} {figures} {row['syncs_per_message']:>10} {row['server_cpu_us_per_message']:>11}"
        f"  {confirm['p50_ms']:.2f}/{confirm['p99_ms']:.2f} ms"
        f"   {journey['p50_ms']:.2f}/{journey['p99_ms']:.2f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()

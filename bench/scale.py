"""How many managers, disks and cores does a number of messages a day need, and does the model hold?

The costs of one message are measured with one manager, and with several at once on one machine: a manager
shares nothing with another, so the cost of a message must not depend on their number.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]

from bench.queue import RESULTS, SHAPES
from bench.server import Server, run_load
from reliquary.client.feed import FeedClient, StageKey

PORT = 18700
DAY = 86_400
PEAK = 3.0
"""How much more the busiest minutes of a day bring than the mean."""
SHARE = 0.6
"""The share of a core up to which a manager is planned: beyond it, waiting times grow."""
ROWS = 50_000
SPARK_US = 4.3
"""Processor time of Spark for one row with all columns of a message of 1 KB, by `./dev bench spark`."""
EXECUTOR_CORES = 4
"""The number of cores of an executor."""
HISTORY_EVENTS = 3
"""Events of a message: it comes, is handed out, and goes."""
HISTORY_BYTES = 0.5
"""Bytes of an event in the files of the history, by `./dev bench history --shape 16x1`."""
HISTORY_FILE = 5_000
"""Bytes of a file of the history beside its events."""
HISTORY_EVERY = 10
"""Seconds between two files of the history."""
LAKE_BYTES = 2_100
"""An upper bound for a message of 1 KB in a lake: a body that does not compress, in bronze and in silver."""
VARIED = ("feed_id", "lookup_id", "arrived", "size", "id", "body", "body_size", "label")
"""Columns that have another value in each row; the others travel once in a batch."""


class Costs(NamedTuple):
    """What one message of 1 KB costs."""

    manager_us: float
    """Processor time of its manager, from the send to the acknowledgement."""
    stored_bytes: float
    """Bytes that it takes on disk while it is kept."""
    feed_us: float
    """Processor time of its manager when a feed is read, for one row."""
    feed_bytes: float
    """Bytes of one row on the network."""


class Needs(NamedTuple):
    """What a number of messages a day needs."""

    peak: float
    """Messages a second in the busiest minutes."""
    managers: int
    disk_bytes_a_day: float
    """Bytes of the messages of a day, while they are kept."""
    network_bits: float
    """Bits a second at the peak: each message comes in, goes out, and is read by one feed."""
    feed_cores: float
    """Cores of managers for one reader of all feeds, in the mean."""
    spark_cores: float
    """Cores of Spark that read all feeds once, in the mean; work on the rows comes on top."""
    executors: int
    """Executors for these cores, at least one."""
    history_bytes_a_day: float
    """Bytes of the files of the history of a day."""
    lake_bytes_a_day: float
    """Bytes of a day in a lake, for bodies that do not compress."""


def needs(a_day: float, costs: Costs, body: int = 1024) -> Needs:
    """Return what this many messages of this size need in a day."""
    peak = PEAK * a_day / DAY
    more = body - 1024
    managers = max(1, math.ceil(peak * (costs.manager_us + costs.feed_us) / 1e6 / SHARE))
    spark_cores = a_day / DAY * SPARK_US / 1e6
    return Needs(
        peak,
        managers,
        a_day * (costs.stored_bytes + more),
        3 * peak * (costs.feed_bytes + more) * 8,
        a_day / DAY * costs.feed_us / 1e6,
        spark_cores,
        max(1, math.ceil(spark_cores / EXECUTOR_CORES)),
        a_day * HISTORY_EVENTS * HISTORY_BYTES + managers * DAY / HISTORY_EVERY * HISTORY_FILE,
        a_day * (LAKE_BYTES + 2 * more),
    )


def main() -> None:
    """Measure one manager and several, and print what volumes need."""
    parser = argparse.ArgumentParser(prog="./dev bench scale", description=__doc__)
    parser.add_argument("--shape", default="16x1", choices=SHAPES, help="which load to run")
    parser.add_argument("--managers", type=int, default=3, help="how many at once")
    parser.add_argument("--seconds", type=float, default=6, help="how long each run takes")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind")
    parser.add_argument("--folder", default=None, help="where the stores lie")
    arguments = parser.parse_args()
    found: dict[int, list[Costs]] = {1: [], arguments.managers: []}
    print("managers  messages/s  manager us  stored bytes  feed us  feed bytes")
    for _ in range(arguments.rounds):
        for count, costs in found.items():
            with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
                rate, one = measure(arguments, Path(folder), count)
            costs.append(one)
            print(f"{count:>8} {rate:>11.0f} " + " ".join(f"{value:>11.2f}" for value in one), flush=True)
    lowest = {count: least(costs) for count, costs in found.items()}
    print("lowest of all runs:", {count: costs._asdict() for count, costs in lowest.items()})
    rows = []
    print(
        "messages a day  peak/s  managers  disk GB a day  network Mbit/s  feed cores"
        "  Spark cores  executors  history GB a day  lake GB a day"
    )
    for a_day in (1e6, 1e8, 1e9):
        need = needs(a_day, lowest[1])
        rows.append({"a_day": a_day, **need._asdict()})
        print(
            f"{a_day:>14.0e} {need.peak:>7.0f} {need.managers:>9} {need.disk_bytes_a_day / 1e9:>14.1f}"
            f" {need.network_bits / 1e6:>15.1f} {need.feed_cores:>11.3f} {need.spark_cores:>12.4f}"
            f" {need.executors:>10} {need.history_bytes_a_day / 1e9:>17.2f}"
            f" {need.lake_bytes_a_day / 1e9:>14.1f}"
        )
    RESULTS.mkdir(exist_ok=True)
    measured = {str(count): [each._asdict() for each in costs] for count, costs in found.items()}
    (RESULTS / "scale.json").write_text(json.dumps({"measured": measured, "needs": rows}, indent=2) + "\n")


def least(costs: Sequence[Costs]) -> Costs:
    """Return the lowest of each cost: what other processes add is noise."""
    return Costs(*(min(values) for values in zip(*costs, strict=True)))


def measure(arguments: argparse.Namespace, folder: Path, count: int) -> tuple[float, Costs]:
    """Run the load against `count` managers at once; return the rate of all, and the costs of a message."""
    producers, in_flight, consumers = SHAPES[arguments.shape]
    with ExitStack() as running, ThreadPoolExecutor(count) as threads:
        servers = [
            running.enter_context(Server(folder / f"store{place}", port=PORT + 2 * place))
            for place in range(count)
        ]
        for server in servers:
            server.create_queue("bench")
        load = {
            "queue": "bench",
            "producers": producers,
            "in_flight": in_flight,
            "consumers": consumers,
            "seconds": arguments.seconds,
        }

        def run(server: Server) -> dict[str, Any]:
            return run_load(load | {"host": server.host, "port": server.port})

        before = sum(server.cpu_seconds() for server in servers)
        figures = list(threads.map(run, servers))
        spent = sum(server.cpu_seconds() for server in servers) - before
        handled = sum(each["acknowledged_in_all"] for each in figures)
        rate = sum(each["acknowledged"] / each["elapsed"] for each in figures)
        feeds = list(threads.map(_feed, servers))
    stored, feed_us, feed_bytes = (sum(values) / count for values in zip(*feeds, strict=True))
    return rate, Costs(spent / handled * 1e6, stored, feed_us, feed_bytes)


def _feed(server: Server) -> tuple[float, float, float]:
    """Fill a queue and read its feed; return what a message takes on disk, and what its row costs."""
    server.create_queue("kept")
    empty = _size(server.folder)
    with FeedClient(f"http://{server.host}:{server.port}") as client:
        bodies = pa.array([b"%010d" % number * 102 + b"...." for number in range(ROWS)], pa.binary())
        given = pa.table({"body": bodies})
        staged = client.stage("kept", StageKey("fill", 0, 0, "1"), given.to_batches(10_000), given.schema)
        client.publish("fill", 0, [staged.stage])
        stored = (_size(server.folder) - empty) / ROWS
        mark = client.feeds(["kept"])[0].mark
        before, size = server.cpu_seconds(), 0
        for batch in client.read("kept", 0, mark):
            size += sum(batch.column(name).nbytes for name in VARIED)
        return stored, (server.cpu_seconds() - before) / ROWS * 1e6, size / ROWS


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()

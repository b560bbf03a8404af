"""What does a row of a feed cost the server and a plain client, and does it grow with queue and bodies?

No Spark runs here: this is the part of a read that is ours.  Each case is read several times, and the lowest
processor time counts, because other processes only add to it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from bench.queue import RESULTS
from bench.server import Server
from bench.slopes import Point, line, slope
from reliquary.client.feed import FeedClient, StageKey

PORT = 18760
PART = 20_000
"""Rows that are published together."""
BODY = 1024
DEPTHS = (20_000, 80_000, 320_000)
BODIES = (100, 10_240)
NARROW = ("feed_id", "lookup_id", "arrived", "size")


def main() -> None:
    """Read queues of several depths, and bodies of several sizes."""
    parser = argparse.ArgumentParser(prog="./dev bench feed", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="reads of each case; the lowest counts")
    parser.add_argument("--folder", default=None, help="the folder of the store")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print("columns  rows     body  server us/row  client us/row")
    with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
        server = Server(Path(folder) / "store", port=PORT, history_enabled=False)
        with server, FeedClient(f"http://{server.host}:{server.port}") as client:
            for depth in DEPTHS:
                fill(server, client, f"depth{depth}", depth, BODY)
                rows += [
                    _read(arguments, server, client, f"depth{depth}", depth, BODY, columns)
                    for columns in ((), NARROW)
                ]
            for body in BODIES:
                fill(server, client, f"body{body}", PART, body)
                rows.append(_read(arguments, server, client, f"body{body}", PART, body, ()))
    _growth(rows)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "feed.json").write_text(json.dumps(rows, indent=2) + "\n")


def fill(server: Server, client: FeedClient, queue: str, rows: int, body: int) -> None:
    """Create a queue and publish this many messages into it."""
    server.create_queue(queue)
    for batch, first in enumerate(range(0, rows, PART)):
        bodies = [(b"%010d" % number * (body // 10 + 1))[:body] for number in range(first, first + PART)]
        given = pa.table({"body": pa.array(bodies, pa.binary())})
        staged = client.stage(queue, StageKey(queue, batch, 0, "1"), given.to_batches(5_000), given.schema)
        client.publish(queue, batch, [staged.stage])


def _read(
    arguments: argparse.Namespace,
    server: Server,
    client: FeedClient,
    queue: str,
    rows: int,
    body: int,
    columns: tuple[str, ...],
) -> dict[str, Any]:
    """Read the queue of a case; return the lowest processor times of both sides for a row."""
    mark = client.feeds([queue])[0].mark
    costs = []
    for _ in range(arguments.runs):
        before, mine = server.cpu_seconds(), process_time()
        found = sum(batch.num_rows for batch in client.read(queue, 0, mark, columns=columns))
        assert found == rows, f"{found} rows of {rows}"
        costs.append((server.cpu_seconds() - before, process_time() - mine))
    server_us, client_us = (min(values) / rows * 1e6 for values in zip(*costs, strict=True))
    name = "narrow" if columns else "all"
    print(f"{name:<8} {rows:>7} {body:>6} {server_us:>14.2f} {client_us:>14.2f}", flush=True)
    return {"columns": name, "rows": rows, "body": body, "server": server_us, "client": client_us}


def _growth(rows: list[dict[str, Any]]) -> None:
    """Print how the costs of both sides grow."""
    for side in ("server", "client"):
        for name in ("all", "narrow"):
            points = [
                Point(row["rows"], row[side])
                for row in rows
                if row["columns"] == name and row["body"] == BODY
            ]
            print(f"{side}, {name} columns: slope {slope(points):+.2f} with the depth of the queue")
        bodies = [Point(row["body"], row[side]) for row in rows if row["body"] != BODY]
        rising = line(bodies).rising * 1024
        print(f"{side}, all columns: {rising:.2f} us more for each KB of a body")


if __name__ == "__main__":
    main()

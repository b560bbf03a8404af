"""How many durable 1 KB messages a second are read over MQQP, and how fast do 4 MB messages come?"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from bench.choices import some_of
from bench.queue import RESULTS, appends
from bench.server import Server, run_load
from reliquary import connect

LOAD = "bench.mqqp_load"
GOALS = {"pairs": 3_000, "large": 100}
"""Receives with their acknowledgements a second; megabytes a second."""
READERS = 16
HANDSHAKE_PORT, READ_PORT = 18603, 18605
QUEUES = ("bench", "reference")
BODY = b"%01024d"
LARGE = 4_000_000
BLOCK = 500
"""The number of messages of one request."""


def main() -> None:
    """Measure receives of small messages, and of large ones."""
    arguments = _arguments()
    rows = []
    for name in arguments.parts:
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            rows.append({"part": name, **PARTS[name](Path(folder), arguments)})
        figures = (f"{key} {value}" for key, value in rows[-1].items() if key != "part")
        print(f"{name}:", ", ".join(figures), flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "mqqp.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench mqqp", description=__doc__)
    parser.add_argument("--parts", type=some_of(PARTS), default=",".join(PARTS), help="what to measure")
    parser.add_argument("--messages", type=int, default=20_000, help="how many small messages are read")
    parser.add_argument("--large", type=int, default=100, help="how many large messages are read")
    parser.add_argument("--readers", type=int, default=READERS, help="connections that read small messages")
    parser.add_argument("--folder", default=None, help="the folder of the store")
    return parser.parse_args()


def _server(folder: Path) -> Server:
    return Server(
        folder / "store",
        core=0,
        mqqp_enabled=True,
        mqqp_handshake_port=HANDSHAKE_PORT,
        mqqp_read_port=READ_PORT,
    )


def _fill(server: Server, queue: str, count: int, body: bytes) -> None:
    with connect(f"http://{server.host}:{server.port}") as manager:
        for first in range(0, count, BLOCK):
            numbers = range(first, min(first + BLOCK, count))
            manager.queue(f"private$/{queue}").send_many([body % number for number in numbers])


def _pairs(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a server on one core and readers on the other; the JSON API is the reference."""
    count = arguments.messages
    before = appends(folder, arguments.readers, 2)
    with _server(folder) as server:
        for queue in QUEUES:
            server.create_queue(queue)
            _fill(server, queue, count, BODY)
        load = {"host": server.host, "readers": arguments.readers, "messages": count, "core": 1}
        mqqp = load | {"port": READ_PORT, "queue": QUEUES[0], "protocol": "mqqp"}
        syncs, cpu = server.metric("reliquary_syncs_total"), server.cpu_seconds()
        figures = run_load(mqqp, LOAD)
        syncs, cpu = server.metric("reliquary_syncs_total") - syncs, server.cpu_seconds() - cpu
        reference = run_load(load | {"port": server.port, "queue": QUEUES[1], "protocol": "api"}, LOAD)
    after = appends(folder, arguments.readers, 2)
    rate = count / figures["elapsed"]
    return {
        "pairs_per_second": round(rate),
        "goal": GOALS["pairs"],
        "ratio_to_api": round(rate / (count / reference["elapsed"]), 3),
        "ratio_to_disk": round(2 * rate / (before + after), 3),
        "syncs_per_pair": round(syncs / count, 4),
        "server_cpu_us_per_pair": round(cpu / count * 1e6, 1),
        "load_cpu_us_per_pair": round(figures["load_cpu"] / count * 1e6, 1),
        "readers": arguments.readers,
    }


def _large(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return one reader of 4 MB messages, each removed before the next is asked for."""
    count = arguments.large
    with _server(folder) as server:
        server.create_queue(QUEUES[0])
        with connect(f"http://{server.host}:{server.port}") as manager:
            for number in range(count):
                manager.queue(f"private$/{QUEUES[0]}").send(b"%0*d" % (LARGE, number))
        load = {"host": server.host, "readers": 1, "messages": count, "core": 1}
        cpu = server.cpu_seconds()
        figures = run_load(load | {"port": READ_PORT, "queue": QUEUES[0], "protocol": "mqqp"}, LOAD)
        cpu = server.cpu_seconds() - cpu
    megabytes = figures["bytes"] / 1e6
    return {
        "megabytes_per_second": round(megabytes / figures["elapsed"]),
        "goal": GOALS["large"],
        "server_cpu_ms_per_message": round(cpu / count * 1e3, 2),
        "load_cpu_ms_per_message": round(figures["load_cpu"] / count * 1e3, 2),
    }


PARTS = {"pairs": _pairs, "large": _large}


if __name__ == "__main__":
    main()

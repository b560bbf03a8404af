"""How many durable 1 KB messages a second come and go by HTTPR, over one connection?"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from bench.choices import some_of
from bench.httpr_shares import shares
from bench.queue import RESULTS, appends
from bench.server import Server, run_load

LOAD = "bench.httpr_load"
GOALS = {10: 50_000, 500: 60_000}
"""Messages a second, by the size of a batch."""
DEPTH = 32
QUEUE = "bench"
PARTS = ("push-10", "push-500", "pull-10", "pull-500", "shares-10", "shares-500")
FILLING = {"command": "push", "batch": 500, "depth": 8}


def main() -> None:
    """Measure both directions with small and large batches, and where the time goes."""
    arguments = _arguments()
    rows = []
    for name in arguments.parts:
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            rows.append(_part(name, Path(folder), arguments))
        _print(rows[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "httpr.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench httpr", description=__doc__)
    parser.add_argument("--parts", type=some_of(PARTS), default=",".join(PARTS), help="what to measure")
    parser.add_argument("--seconds", type=float, default=8, help="how long messages come in")
    parser.add_argument("--messages", type=int, default=200_000, help="how many are fetched")
    parser.add_argument("--depth", type=int, default=DEPTH, help="requests that are proposed to be under way")
    parser.add_argument("--folder", default=None, help="where the stores lie")
    return parser.parse_args()


def _part(name: str, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    kind, _, batch = name.partition("-")
    if kind == "shares":
        return {"part": name, **shares(folder, int(batch))}
    return {"part": name, **_transfer(kind, int(batch), folder, arguments)}


def _transfer(command: str, batch: int, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return a server on one core, the load on the other."""
    with Server(folder / "store", core=0) as server:
        server.create_queue(QUEUE)
        where = {"host": server.host, "port": server.port, "service": QUEUE, "core": 1}
        run_load(where | FILLING | {"messages": 5_000 if command == "push" else arguments.messages}, LOAD)
        before = _stored(server)
        syncs, cpu = server.metric("reliquary_syncs_total"), server.cpu_seconds()
        amount = {"seconds": arguments.seconds} if command == "push" else {"messages": before}
        load = {"command": command, "batch": batch, "depth": arguments.depth}
        figures = run_load(where | load | amount, LOAD)
        syncs, cpu = server.metric("reliquary_syncs_total") - syncs, server.cpu_seconds() - cpu
        moved = abs(_stored(server) - before)
    count, elapsed = figures["messages"], figures["elapsed"]
    assert moved == count, f"{count} went over the line, {moved} went into or out of the queue"
    reference = appends(folder, figures["batch"] * figures["depth"], arguments.seconds / 4)
    return {
        "messages_per_second": round(count / elapsed),
        "goal": GOALS.get(batch, 0),
        "ratio_to_disk": round(count / elapsed / reference, 3),
        "syncs_per_message": round(syncs / count, 4),
        "server_cpu_us_per_message": round(cpu / count * 1e6, 1),
        "load_cpu_us_per_message": round(figures["load_cpu"] / count * 1e6, 1),
        "batch": figures["batch"],
        "depth": figures["depth"],
    }


def _stored(server: Server) -> int:
    return int(server.ask("GET", f"queues/private$/{QUEUE}")["messages"])


def _print(row: dict[str, Any]) -> None:
    print(
        f"{row['part']}:",
        ", ".join(f"{name} {value}" for name, value in row.items() if name != "part"),
        flush=True,
    )


if __name__ == "__main__":
    main()

"""How much of what bare requests reach does our own client reach, with `await` and without?"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from bench.choices import some_of
from bench.queue import RESULTS
from bench.server import Server, run_load

KINDS = ("raw", "async", "sync")
GOAL = 0.7
"""The share of the rate of bare requests that the client must reach."""
PORT = 18490


def main() -> None:
    """Run the three loads in turn, several times, and print the middle of each."""
    arguments = _arguments()
    kinds = arguments.kinds
    runs: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    with (
        tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder,
        Server(Path(folder) / "store", port=PORT) as server,
    ):
        server.create_queue("bench")
        for _ in range(arguments.rounds):
            for kind in kinds:
                runs[kind].append(_measure(server, kind, arguments.tasks, arguments.messages))
    rows = [_row(kind, runs) for kind in kinds]
    _print(rows)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "client.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench client", description=__doc__)
    parser.add_argument("--kinds", type=some_of(KINDS), default=",".join(KINDS), help="which loads to run")
    parser.add_argument("--tasks", type=int, default=16, help="how many send and receive at once")
    parser.add_argument("--messages", type=int, default=500, help="how many each of them sends and receives")
    parser.add_argument("--rounds", type=int, default=5, help="how often each load runs, in turn")
    parser.add_argument("--folder", default=None, help="the folder of the store")
    return parser.parse_args()


def _measure(server: Server, kind: str, tasks: int, messages: int) -> dict[str, float]:
    load: dict[str, object] = {"kind": kind, "host": server.host, "port": server.port, "tasks": tasks}
    idle = run_load(load | {"messages": 1}, "bench.client_load")["cpu"]
    before = server.cpu_seconds()
    figures = run_load(load | {"messages": messages + 1}, "bench.client_load")
    total = tasks * messages
    return {
        "messages_per_second": total / figures["elapsed"],
        "client_cpu_us_per_message": (figures["cpu"] - idle) / total * 1e6,
        "server_cpu_us_per_message": (server.cpu_seconds() - before) / total * 1e6,
    }


def _row(kind: str, runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    figures = {name: round(median(run[name] for run in runs[kind])) for name in runs[kind][0]}
    ratios = [
        run["messages_per_second"] / raw["messages_per_second"]
        for run, raw in zip(runs[kind], runs.get("raw", runs[kind]), strict=True)
    ]
    return {"load": kind, **figures, "ratio_to_raw": round(median(ratios), 3), "goal": GOAL}


def _print(rows: list[dict[str, Any]]) -> None:
    print("load    msgs/s  client CPU us/msg  server CPU us/msg  ratio to raw   goal")
    for row in rows:
        print(
            f"{row['load']:<6} {row['messages_per_second']:>7} {row['client_cpu_us_per_message']:>18}"
            f" {row['server_cpu_us_per_message']:>18} {row['ratio_to_raw']:>13} {row['goal']:>6}"
        )


if __name__ == "__main__":
    main()

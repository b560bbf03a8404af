"""How many durable 1 KB messages a second come in by SRMP, and how many go from manager to manager?"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.choices import some_of
from bench.queue import RESULTS, appends
from bench.server import Server
from bench.srmp_message import BODY, CONTENT_TYPE, FIRST, halves, lua
from bench.srmp_shares import shares
from reliquary import connect

CONNECTIONS = 32
GOALS = {"receive": 12_500, "stream": 9_000}
B_PORT = 18580
BLOCK = 500
"""The number of messages of one transaction."""


def main() -> None:
    """Measure both directions, and where the time goes."""
    arguments = _arguments()
    rows = []
    for name in arguments.parts:
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            rows.append(PARTS[name](Path(folder), arguments))
        _print(rows[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "srmp.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench srmp", description=__doc__)
    parser.add_argument("--parts", type=some_of(PARTS), default=",".join(PARTS), help="what to measure")
    parser.add_argument("--seconds", type=float, default=8, help="how long messages come in")
    parser.add_argument("--messages", type=int, default=20_000, help="how many the stream has")
    parser.add_argument("--folder", default=None, help="where the stores lie")
    return parser.parse_args()


def _receive(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return a server on one core, wrk on the other."""
    if shutil.which("wrk") is None:
        sys.exit("this needs wrk: apt-get install wrk")
    before = appends(folder, CONNECTIONS, arguments.seconds / 4)
    script = folder / "post.lua"
    with Server(folder / "store", core=0) as server:
        server.create_queue("bench")
        url = f"http://{server.host}:{server.port}/msmq/private$/bench"
        lua(url, script)
        syncs, cpu = server.metric("reliquary_syncs_total"), server.cpu_seconds()
        printed = _wrk(url, script, arguments.seconds)
        syncs, cpu = server.metric("reliquary_syncs_total") - syncs, server.cpu_seconds() - cpu
        stored = server.ask("GET", "queues/private$/bench")["messages"]
    after = appends(folder, CONNECTIONS, arguments.seconds / 4)
    rate = float(_figure(r"Requests/sec:\s+([\d.]+)", printed))
    answered = int(_figure(r"(\d+) requests in", printed))
    assert "Non-2xx" not in printed, printed
    assert answered <= stored <= answered + CONNECTIONS, f"{answered} were answered, {stored} are stored"
    return {
        "part": "receive",
        "messages_per_second": round(rate),
        "goal": GOALS["receive"],
        "ratio_to_disk": round(2 * rate / (before + after), 3),
        "syncs_per_message": round(syncs / stored, 4),
        "server_cpu_us_per_message": round(cpu / stored * 1e6, 1),
        "latency_p50_ms": _milliseconds(_figure(r"\n +50% +(\S+)", printed)),
        "latency_p99_ms": _milliseconds(_figure(r"\n +99% +(\S+)", printed)),
    }


def _wrk(url: str, script: Path, seconds: float) -> str:
    command = ["taskset", "-c", "1", "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{round(seconds)}s", "--latency"]
    done = subprocess.run([*command, "-s", str(script), url], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def _figure(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, f"no {pattern} in {text}"
    return found[1]


def _milliseconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(\D+)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def _stream(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a stream that goes from A to B; each manager has a core."""
    count = arguments.messages
    with Server(folder / "a", core=0) as a, Server(folder / "b", port=B_PORT, core=1) as b:
        b.create_queue("bench", transactional=True)
        there = f"DIRECT=HTTP://{b.host}:{b.port}/msmq/private$/bench"
        _fill(a, there, count)
        cpu = a.cpu_seconds(), b.cpu_seconds()
        start = perf_counter()
        a.ask("POST", f"outgoing/{there}/resume")
        while (arrived := b.ask("GET", "queues/private$/bench")["messages"]) < count:
            time.sleep(0.05)
            assert perf_counter() - start < 300, f"{arrived} of {count} arrived in five minutes"
        elapsed = perf_counter() - start
        spent = a.cpu_seconds() - cpu[0], b.cpu_seconds() - cpu[1]
        assert arrived == count, f"{arrived} arrived, {count} were sent"
        assert _are_in_order(b, count), "messages arrived out of order"
    reference = appends(folder, CONNECTIONS, 2)
    return {
        "part": "stream",
        "messages_per_second": round(count / elapsed),
        "goal": GOALS["stream"],
        "ratio_to_disk": round(count / elapsed / reference, 3),
        "sender_cpu_us_per_message": round(spent[0] / count * 1e6, 1),
        "receiver_cpu_us_per_message": round(spent[1] / count * 1e6, 1),
    }


def _fill(server: Server, there: str, count: int) -> None:
    """Let messages of transactions wait at A; the first one makes the outgoing queue."""
    with connect(f"http://{server.host}:{server.port}") as manager:
        queue = manager.queue(there)
        with manager.transaction():
            queue.send(b"0")
        manager.pause(there)
        for first in range(1, count, BLOCK):
            numbers = range(first, min(first + BLOCK, count))
            with manager.transaction():
                queue.send_many([f"{number:>1024}".encode() for number in numbers])


def _are_in_order(server: Server, count: int) -> bool:
    with connect(f"http://{server.host}:{server.port}") as manager:
        queue, expected = manager.queue("private$/bench"), 0
        while expected < count:
            numbers = [int(message.body) for message in queue.receive_many(BLOCK)]
            if numbers != list(range(expected, expected + len(numbers))):
                return False
            expected += len(numbers)
    return True


def _shares(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    del arguments
    to = "http://localhost/msmq/private$/bench"
    head, tail = halves(to)
    posts = [head + str(FIRST + number).encode() + tail for number in range(20_000)]
    return {"part": "shares", "message_bytes": len(BODY), **shares(folder, CONTENT_TYPE, posts)}


PARTS = {"receive": _receive, "stream": _stream, "shares": _shares}


def _print(row: dict[str, Any]) -> None:
    print(
        f"{row['part']}:",
        ", ".join(f"{name} {value}" for name, value in row.items() if name != "part"),
        flush=True,
    )


if __name__ == "__main__":
    main()

"""How many durable 1 KB messages a second come by WS-RM, and does a slow reader slow its source down?"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.choices import some_of
from bench.queue import RESULTS, appends
from bench.server import DATA_PORT, Server, run_load
from bench.wsrm_shares import shares
from reliquary import connect

LOAD = "bench.wsrm_load"
GOALS = {"receive": 4_000}
"""The goals, in messages a second."""
WINDOW = 64
QUEUE = "bench"
A_ORIGIN = f"http://127.0.0.1:{DATA_PORT}"
"""The address to which B sends acknowledgements."""
B_PORT = 18580
BODY = b"<n>%1017d</n>"
"""1 KB of XML, in which the number of the message stands."""
BLOCK = 500
"""The number of messages of one request."""
PACE = 200
"""Messages a second that the slow reader takes."""
RETRANSMISSIONS = 'reliquary_wsrm_events_total{kind="retransmissions"}'


def main() -> None:
    """Measure the destination, both ends together, a slow reader, and where the time goes."""
    arguments = _arguments()
    rows = []
    for name in arguments.parts:
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            rows.append({"part": name, **PARTS[name](Path(folder), arguments)})
        _print(rows[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "wsrm.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench wsrm", description=__doc__)
    parser.add_argument("--parts", type=some_of(PARTS), default=",".join(PARTS), help="what to measure")
    parser.add_argument("--seconds", type=float, default=8, help="how long messages come in")
    parser.add_argument("--messages", type=int, default=20_000, help="how many go from manager to manager")
    parser.add_argument("--window", type=int, default=WINDOW, help="messages without an acknowledgement")
    parser.add_argument("--folder", default=None, help="where the stores lie")
    return parser.parse_args()


# -- one sequence into the destination


def _receive(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a server on one core with one sequence over one connection; then SRMP, as a reference."""
    before = appends(folder, arguments.window, arguments.seconds / 4)
    with Server(folder / "store", core=0, wsrm_window=arguments.window) as server:
        for queue in (QUEUE, "reference"):
            server.create_queue(queue)
        load = {"host": server.host, "port": server.port, "window": arguments.window, "core": 1}
        come = load | {"queue": QUEUE, "protocol": "wsrm"}
        reference = load | {"queue": "reference", "protocol": "srmp", "seconds": arguments.seconds / 2}
        run_load(come | {"run": 1, "seconds": 1}, LOAD)
        first = run_load(reference | {"run": 1}, LOAD)
        stored = _stored(server)
        syncs, cpu = server.metric("reliquary_syncs_total"), server.cpu_seconds()
        figures = run_load(come | {"run": 2, "seconds": arguments.seconds}, LOAD)
        syncs, cpu = server.metric("reliquary_syncs_total") - syncs, server.cpu_seconds() - cpu
        stored = _stored(server) - stored
        second = run_load(reference | {"run": 2}, LOAD)
    after = appends(folder, arguments.window, arguments.seconds / 4)
    count, rate = figures["messages"], figures["messages"] / figures["elapsed"]
    assert stored == count, f"{count} were acknowledged, {stored} are stored"
    srmp = (first["messages"] + second["messages"]) / (first["elapsed"] + second["elapsed"])
    return {
        "messages_per_second": round(rate),
        "goal": GOALS["receive"],
        "ratio_to_disk": round(2 * rate / (before + after), 3),
        "ratio_to_srmp": round(rate / srmp, 3),
        "syncs_per_message": round(syncs / count, 4),
        "server_cpu_us_per_message": round(cpu / count * 1e6, 1),
        "load_cpu_us_per_message": round(figures["load_cpu"] / count * 1e6, 1),
        "window": arguments.window,
    }


# -- from manager to manager


def _transfer(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure messages that go from A to B in one sequence; each manager has a core."""
    count, window = arguments.messages, arguments.window
    with (
        Server(folder / "a", core=0, toml=_peer(window)) as a,
        Server(folder / "b", port=B_PORT, core=1, wsrm_window=window) as b,
    ):
        b.create_queue(QUEUE)
        there = _name(b)
        _fill(a, there, count)
        again = a.metric(RETRANSMISSIONS)
        cpu = a.cpu_seconds(), b.cpu_seconds()
        start = perf_counter()
        a.ask("POST", f"outgoing/{there}/resume")
        while (arrived := _stored(b)) < count:
            time.sleep(0.05)
            assert perf_counter() - start < 300, f"{arrived} of {count} arrived in five minutes"
        elapsed = perf_counter() - start
        spent = a.cpu_seconds() - cpu[0], b.cpu_seconds() - cpu[1]
        again = a.metric(RETRANSMISSIONS) - again
        assert arrived == count, f"{arrived} arrived, {count} were sent"
        assert _are_in_order(b, count), "messages arrived out of order"
    reference = appends(folder, window, 2)
    return {
        "messages_per_second": round(count / elapsed),
        "ratio_to_disk": round(count / elapsed / reference, 3),
        "source_cpu_us_per_message": round(spent[0] / count * 1e6, 1),
        "destination_cpu_us_per_message": round(spent[1] / count * 1e6, 1),
        "retransmissions": round(again),
        "window": window,
    }


def _peer(window: int, *, addressable: bool = False) -> str:
    """Return the settings with which A sends to B."""
    return (
        f'[[wsrm.peers]]\naddress = "wsrm://127.0.0.1:{B_PORT}/*"\n'
        f"window = {window}\naddressable = {str(addressable).lower()}\n"
    )


def _name(server: Server) -> str:
    return f"DIRECT=WSRM://{server.host}:{server.port}/wsrm/{QUEUE}"


def _fill(server: Server, there: str, count: int) -> None:
    """Let messages wait at A; the first one makes the outgoing queue."""
    with connect(f"http://{server.host}:{server.port}") as manager:
        queue = manager.queue(there)
        queue.send(BODY % 0)
        manager.pause(there)
        for first in range(1, count, BLOCK):
            numbers = range(first, min(first + BLOCK, count))
            queue.send_many([BODY % number for number in numbers])


def _are_in_order(server: Server, count: int) -> bool:
    with connect(f"http://{server.host}:{server.port}") as manager:
        queue, expected = manager.queue(f"private$/{QUEUE}"), 0
        while expected < count:
            numbers = [int(message.body[3:-4]) for message in queue.receive_many(BLOCK)]
            if not numbers or numbers != list(range(expected, expected + len(numbers))):
                return False
            expected += len(numbers)
    return True


# -- a slow reader


def _slow(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a bounded endpoint with a slow reader: the source waits, and repeats nothing."""
    count, window = round(PACE * arguments.seconds) + 2 * arguments.window, arguments.window
    endpoint = f'[[wsrm.endpoints]]\nname = "{QUEUE}"\nwindow = {window}\nbounded = true\n'
    with (
        Server(folder / "a", core=0, toml=_peer(window, addressable=True), wsrm_origin=A_ORIGIN) as a,
        Server(folder / "b", port=B_PORT, core=1, toml=endpoint) as b,
    ):
        b.create_queue(QUEUE)
        there = _name(b)
        _fill(a, there, count)
        again = a.metric(RETRANSMISSIONS)
        a.ask("POST", f"outgoing/{there}/resume")
        read, elapsed, most = _read_slowly(b, arguments.seconds)
        again = a.metric(RETRANSMISSIONS) - again
    assert most <= window, f"{most} messages were unread where {window} fit"
    assert again == 0, f"{again} messages were sent again"
    return {
        "messages_per_second": round(read / elapsed),
        "pace": PACE,
        "ratio_to_pace": round(read / elapsed / PACE, 3),
        "most_unread": most,
        "retransmissions": round(again),
        "window": window,
    }


def _read_slowly(server: Server, seconds: float) -> tuple[int, float, int]:
    """Read at the pace; return the messages, the seconds, and the most that were unread at once."""
    read = most = 0
    start = perf_counter()
    with connect(f"http://{server.host}:{server.port}") as manager:
        queue = manager.queue(f"private$/{QUEUE}")
        while (elapsed := perf_counter() - start) < seconds:
            due = round(elapsed * PACE) - read
            if due > 0:
                read += len(queue.receive_many(due))
            most = max(most, _stored(server))
            time.sleep(0.02)
    return read, elapsed, most


def _stored(server: Server) -> int:
    return int(server.ask("GET", f"queues/private$/{QUEUE}")["messages"])


def _shares(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    return shares(folder, arguments.window)


PARTS = {"receive": _receive, "transfer": _transfer, "slow": _slow, "shares": _shares}


def _print(row: dict[str, Any]) -> None:
    print(
        f"{row['part']}:",
        ", ".join(f"{name} {value}" for name, value in row.items() if name != "part"),
        flush=True,
    )


if __name__ == "__main__":
    main()

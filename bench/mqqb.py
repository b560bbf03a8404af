"""How many durable 1 KB messages a second go from manager to manager over MQQB, and come from Windows?

Each manager has a core.  Messages wait in an outgoing queue that is paused; the time runs from its resumption
to the last acknowledgement, when the outgoing queue is empty.  Transactional messages over SRMP, in
one run with these, are the reference: the ratio to them says more than figures of different days.

Windows adds the SID of the user to each message: `received` and `received-sid` come from a peer that only
writes packets, recoverable ones, and show what that costs the receiver.

A session acknowledgement confirms 32 messages and an order acknowledgement for 128; what is left waits half
a second for its timer.  The number of messages is a multiple of both, so no timer is measured.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.choices import some_of
from bench.mqqb_load import SID, Peer, encoded
from bench.queue import RESULTS, appends
from bench.server import Server
from reliquary import connect

GOALS = {"recoverable": 20_000, "transactional": 15_000}
PORT = 18801
A_DATA_PORT, B_DATA_PORT = 18780, 18880
HOSTS = ("127.0.0.2", "127.0.0.3")
"""No name has a port, so each manager has an address."""
BLOCK = 500
"""Messages of one request, or of one transaction."""
QUEUE = "bench"


def main() -> None:
    """Measure recoverable and transactional messages, then the reference."""
    arguments = _arguments()
    rows: list[dict[str, Any]] = []
    for name in arguments.parts:
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            rows.append({"part": name, **PARTS[name](Path(folder), arguments)})
        if name in GOALS:
            rows[-1]["goal"] = GOALS[name]
        print(f"{name}:", ", ".join(f"{key} {value}" for key, value in rows[-1].items() if key != "part"))
    rates = {row["part"]: row["messages_per_second"] for row in rows}
    if "srmp" in rates:
        for name in GOALS.keys() & rates.keys():
            print(f"{name}: {rates[name] / rates['srmp']:.2f} times the stream of SRMP")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "mqqb.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench mqqb", description=__doc__)
    parser.add_argument("--parts", type=some_of(PARTS), default=",".join(PARTS), help="what to measure")
    parser.add_argument("--messages", type=int, default=65_536, help="how many go from manager to manager")
    parser.add_argument("--window", type=int, default=64, help="packets without an acknowledgement")
    parser.add_argument("--folder", default=None, help="where the stores lie")
    parser.add_argument("--pause", action="store_true", help="wait for Enter before the messages leave")
    return parser.parse_args()


def _recoverable(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    return _measure(folder, arguments, f"DIRECT=TCP:{HOSTS[1]}\\private$\\{QUEUE}", transactional=False)


def _transactional(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    return _measure(folder, arguments, f"DIRECT=TCP:{HOSTS[1]}\\private$\\{QUEUE}", transactional=True)


def _srmp(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    there = f"DIRECT=HTTP://127.0.0.1:{B_DATA_PORT}/msmq/private$/{QUEUE}"
    arguments.messages = min(arguments.messages, 16_000)
    return _measure(folder, arguments, there, transactional=True)


def _received(folder: Path, arguments: argparse.Namespace, sender: bytes = b"") -> dict[str, Any]:
    """Measure how fast a server takes messages of a peer that only writes packets."""
    count = arguments.messages
    there = f"DIRECT=TCP:{HOSTS[1]}\\private$\\{QUEUE}"
    packets = encoded(there, [f"{number:>1024}".encode() for number in range(count)], sender=sender)
    with _server(folder, HOSTS[1], 1, arguments.window, port=B_DATA_PORT) as server:
        server.create_queue(QUEUE)
        peer = Peer(HOSTS[1], PORT)
        before = server.cpu_seconds(), server.metric("reliquary_syncs_total")
        start = perf_counter()
        peer.send(packets)
        rate = count / (perf_counter() - start)
        cpu, syncs = server.cpu_seconds() - before[0], server.metric("reliquary_syncs_total") - before[1]
        peer.close()
        _check(server, count - 1)
    return {
        "messages_per_second": round(rate),
        "messages": count,
        "window": arguments.window,
        "ratio_to_disk": round(rate / appends(folder, 32, 2), 3),
        "receiver_cpu_us_per_message": round(cpu / count * 1e6, 1),
        "receiver_messages_per_sync": round(count / max(syncs, 1)),
    }


def _received_sid(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    return _received(folder, arguments, SID)


def _server(folder: Path, host: str, core: int, window: int, **more: Any) -> Server:
    settings: dict[str, Any] = {
        "history_every": 2,  # its first export imports libraries, which belongs before the measurement
        "mqqb_enabled": True,
        "mqqb_host": host,
        "mqqb_port": PORT,
        "mqqb_window": window,
    }
    return Server(folder, core=core, **settings, **more)


def _measure(
    folder: Path, arguments: argparse.Namespace, there: str, *, transactional: bool
) -> dict[str, Any]:
    """Measure how fast messages that wait at A go to B."""
    count, window = arguments.messages, arguments.window
    with (
        _server(folder / "a", HOSTS[0], 0, window, port=A_DATA_PORT) as a,
        _server(folder / "b", HOSTS[1], 1, window, port=B_DATA_PORT) as b,
    ):
        b.create_queue(QUEUE, transactional=transactional)
        _fill(a, there, count, transactional=transactional)
        if arguments.pause:
            input(f"pids {a.pid} and {b.pid}; Enter begins: ")
        before = [(each.cpu_seconds(), each.metric("reliquary_syncs_total")) for each in (a, b)]
        start = perf_counter()
        a.ask("POST", f"outgoing/{there}/resume")
        while (left := a.ask("GET", f"outgoing/{there}")["messages"]) > 0:
            time.sleep(0.05)  # each answer waits for a sync of the sender
            assert perf_counter() - start < 300, f"{left} of {count} are left after five minutes"
        elapsed = perf_counter() - start
        after = [(each.cpu_seconds(), each.metric("reliquary_syncs_total")) for each in (a, b)]
        _check(b, count)
    spent = [(now[0] - then[0], now[1] - then[1]) for then, now in zip(before, after, strict=True)]
    rate = count / elapsed
    return {
        "messages_per_second": round(rate),
        "messages": count,
        "window": window,
        "ratio_to_disk": round(rate / appends(folder, 32, 2), 3),
        "sender_cpu_us_per_message": round(spent[0][0] / count * 1e6, 1),
        "receiver_cpu_us_per_message": round(spent[1][0] / count * 1e6, 1),
        "sender_messages_per_sync": round(count / max(spent[0][1], 1)),
        "receiver_messages_per_sync": round(count / max(spent[1][1], 1)),
    }


def _fill(server: Server, there: str, count: int, *, transactional: bool) -> None:
    """Let messages wait; one more makes the outgoing queue and arrives, and then the queue is paused."""
    with connect(f"http://{server.host}:{server.port}") as manager:
        queue = manager.queue(there)

        def send(numbers: range) -> None:
            bodies = [f"{number:>1024}".encode() for number in numbers]
            if transactional:
                with manager.transaction():
                    queue.send_many(bodies)
            else:
                queue.send_many(bodies)

        send(range(1))
        while any(each.messages for each in manager.outgoing()):
            time.sleep(0.05)
        manager.pause(there)
        for first in range(1, count + 1, BLOCK):
            send(range(first, min(first + BLOCK, count + 1)))


def _check(server: Server, count: int) -> None:
    """See that all messages are there once, in their order."""
    with connect(f"http://{server.host}:{server.port}") as manager:
        queue, expected = manager.queue(f"private$/{QUEUE}"), 0
        while expected <= count:
            numbers = [int(message.body) for message in queue.receive_many(BLOCK)]
            assert numbers == list(range(expected, expected + len(numbers))), "messages are out of order"
            expected += len(numbers)


PARTS: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "recoverable": _recoverable,
    "transactional": _transactional,
    "received": _received,
    "received-sid": _received_sid,
    "srmp": _srmp,
}


if __name__ == "__main__":
    main()

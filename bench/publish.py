"""How long does a publish of many staged messages keep other clients waiting?

    python -m bench.publish                           a million messages, without and with an expiry
    python -m bench.publish --rows 1e5                fewer

A second client sends one message after the other into another queue of the server and waits for each answer:
first with nothing else to do, then beside the publish.  Its longest answer is what the publish costs others.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter

import pyarrow as pa  # type: ignore[import-untyped]

import reliquary
from bench.queue import RESULTS
from bench.server import Server
from reliquary.client.feed import FeedClient, StageKey

PORT = 18860
PART = 100_000
"""The number of messages in a part."""
EXPIRES = 86_400
"""Seconds after which the messages of the second batch expire."""
ALONE = 2.0
"""Seconds of the other client without a publish."""


@dataclass(frozen=True)
class Beside:
    """The answers that the other client got."""

    answers: int
    middle_ms: float
    longest_ms: float


class Sender(Thread):
    """A client that sends one message after the other, and notes how long each answer took."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._began = Event()
        self._ended = Event()
        self._spans: list[float] = []

    def run(self) -> None:
        """Send until the end is asked for."""
        with reliquary.connect(self._url) as manager:
            queue = manager.queue("other")
            queue.send(b"the first one opens the connection")
            self._began.set()
            while not self._ended.is_set():
                began = perf_counter()
                queue.send(b"beside")
                self._spans.append(perf_counter() - began)

    def begin(self) -> None:
        """Start, and return when the first answer has come."""
        self.start()
        self._began.wait()

    def end(self) -> Beside:
        """Stop sending, and return the figures."""
        self._ended.set()
        self.join()
        spans = [span * 1000 for span in self._spans]
        return Beside(len(spans), round(median(spans), 1), round(max(spans), 1))


def main() -> None:
    """Publish one batch without and one with an expiry."""
    parser = argparse.ArgumentParser(prog="./dev bench publish", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6, help="messages of a batch")
    parser.add_argument("--folder", default=None, help="the folder of the store")
    arguments = parser.parse_args()
    rows = []
    print("batch            messages  publish s  server s  answers beside  middle ms  longest ms   load")
    with (
        tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder,
        Server(Path(folder) / "store", port=PORT, history_enabled=False) as server,
    ):
        for queue in ("plain", "expiring", "other"):
            server.create_queue(queue)
        rows.append({"what": "none", **asdict(_alone(server))})
        print(f"{'none':<35} {'':>19} {_shown(rows[-1])}", flush=True)
        for what in ("plain", "expiring"):
            rows.append({"what": what, **_published(server, what, int(arguments.rows))})
            print(
                f"{what:<15} {rows[-1]['messages']:>9} {rows[-1]['seconds']:>10.2f}"
                f" {rows[-1]['server_seconds']:>9.2f} {_shown(rows[-1])}",
                flush=True,
            )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "publish.json").write_text(json.dumps(rows, indent=2) + "\n")


def _shown(row: dict[str, object]) -> str:
    return f"{row['answers']:>15} {row['middle_ms']:>10} {row['longest_ms']:>11} {os.getloadavg()[0]:>6.1f}"


def _alone(server: Server) -> Beside:
    sender = Sender(f"http://{server.host}:{server.port}")
    sender.begin()
    sender.join(ALONE)
    return sender.end()


def _published(server: Server, what: str, rows: int) -> dict[str, object]:
    """Stage a batch, and publish it beside the other client."""
    url = f"http://{server.host}:{server.port}"
    with FeedClient(url, timeout=600) as client:
        stages = []
        for part, first in enumerate(range(0, rows, PART)):
            given = _messages(first, min(PART, rows - first), expires=what == "expiring")
            staged = client.stage(what, StageKey(what, 0, part, "1"), given.to_batches(10_000), given.schema)
            stages.append(staged.stage)
        sender = Sender(url)
        sender.begin()
        before, began = server.cpu_seconds(), perf_counter()
        published = client.publish(what, 0, stages)
        seconds, spent = perf_counter() - began, server.cpu_seconds() - before
        beside = sender.end()
    assert published.rows == rows, f"{published.rows} messages of {rows} were published"
    return {"messages": rows, "seconds": seconds, "server_seconds": spent, **asdict(beside)}


def _messages(first: int, count: int, *, expires: bool) -> pa.Table:
    columns = {"body": pa.array([b"%0100d" % number for number in range(first, first + count)], pa.binary())}
    if expires:
        columns["expires"] = pa.array([EXPIRES] * count, pa.int64())
    return pa.table(columns)


if __name__ == "__main__":
    main()

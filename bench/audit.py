"""How long the delivery audit takes, and how time and memory grow with the history.

    python -m bench.audit                          ten million events, then 100,000 more
    python -m bench.audit --events 1e6             smaller
    python -m bench.audit --events 1e6 1e7 1e8     growth: the slope between these sizes is printed
    python -m bench.audit --conf NAME=VALUE        another setting of the session; may be repeated

The history is made with Arrow and written by the exporter's own writer: from alpha to beta over SRMP streams
and HTTPR batches, five events a message.  Ten messages are lost on purpose and must be found.  Then 100,000
events are added, and a second run reads only those.  A plain count over these files in this session
says what this machine gives.  On a busy machine the seconds of processor time say more than those of the
clock.  Processor time and memory are those of all processes together: Spark's, its workers and this one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from functools import reduce
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from bench.audit_goals import GOAL_EVENTS, Cost, judged
from bench.queue import RESULTS
from reliquary.spark.pipelines.audit.run import AuditConfig, run_audit
from reliquary.spark.pipelines.audit.verdicts import FindingKind
from reliquary.spark.session import session
from reliquary.store.history.columns import PACKED, SCHEMA
from reliquary.store.history.files import FileWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALPHA, BETA = UUID(int=1), UUID(int=2)
NAMES = {ALPHA: "alpha", BETA: "beta"}
Numbers = np.ndarray[Any, Any]
BEGIN = 1_772_000_000_000_000
STEP = 500
"""The microseconds between two messages."""
PART = 100_000
"""Messages that are made at once."""
LOST = 10
EVENTS = 5
"""The number of events of each message."""
NEW = 100_000
"""Events that the second run finds."""


# -- the history


def batch(columns: dict[str, pa.Array | None], count: int) -> pa.Table:
    filled = [columns[each.name] if each.name in columns else pa.nulls(count, each.type) for each in SCHEMA]
    return pa.table(filled, schema=SCHEMA)


def words(word: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(word, pa.string()), count)


def reported(
    manager: UUID, event: list[str], queue: str, kind: str, first: int, numbers: Numbers, delays: list[int]
) -> dict[str, pa.Array]:
    """Return every message with each of these events, message after message."""
    several, count = len(event), len(numbers) * len(event)
    message = np.repeat(numbers, several)
    at = BEGIN + message * STEP + np.tile(np.array(delays), len(numbers))
    return {
        "version": pa.repeat(pa.scalar(1, pa.int32()), count),
        "event_id": pa.array(first + np.arange(count)),
        "event": pa.array(event).take(pa.array(np.tile(np.arange(several), len(numbers)))),
        "time": pa.array(at).cast(SCHEMA.field("time").type),
        "manager": words(str(manager), count),
        "manager_name": words(NAMES[manager], count),
        "queue": words(queue, count),
        "queue_kind": words(kind, count),
        "message": pa.array(message),
        "lookup_id": pa.array(message),
    }


def subjects(columns: dict[str, pa.Array], several: int, numbers: Numbers, stream: bool) -> None:
    """Add the columns that only the first event of each message has: its identifier, stream and number."""
    count = len(numbers) * several
    first = pa.array(np.arange(count) % several != 0)
    ids = pa.array(np.repeat(numbers, several)).cast(pa.string())
    text = pa.compute.binary_join_element_wise(words(str(ALPHA), count), ids, "\\")
    columns["message_id"] = pa.compute.if_else(first, pa.scalar(None, pa.string()), text)
    columns["durable"] = pa.compute.if_else(first, pa.scalar(None, pa.bool_()), pa.scalar(True))
    if stream:
        columns["stream"] = pa.compute.if_else(
            first, pa.scalar(None, pa.string()), words("1.1772000000", count)
        )
        number = pa.array(np.repeat(numbers, several))
        columns["stream_number"] = pa.compute.if_else(first, pa.scalar(None, pa.int64()), number)


class History:
    """The histories of both managers, as they grow."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._events = {ALPHA: 1, BETA: 1}
        self._messages = 0

    def grow(self, messages: int, lost: int = 0) -> int:
        """Write this many more messages, of which `lost` never arrive; return the bytes of all."""
        writers = {each: FileWriter(self._folder / NAMES[each], each) for each in NAMES}
        for manager, table in self._parts(messages, lost):
            for _ in writers[manager].add(table.cast(PACKED)):
                pass
        for writer in writers.values():
            for _ in writer.end():
                pass
        return sum(path.stat().st_size for path in self._folder.rglob("*.parquet"))

    def _parts(self, messages: int, lost: int) -> Iterator[tuple[UUID, pa.Table]]:
        start, self._messages = self._messages, self._messages + messages
        missing = set(range(start + messages // 2, start + messages // 2 + lost))
        for begin in range(start, self._messages, PART):
            numbers = np.arange(begin + 1, min(begin + PART, self._messages) + 1)
            yield from self._way(numbers, missing, stream=begin // PART % 2 == 0)
        # the clocks of both go on, so that all that was sent can be judged
        end = np.array([self._messages + 10 * 60 * 1_000_000 // STEP])
        for manager in NAMES:
            yield manager, self._clock(manager, end)

    def _way(self, numbers: Numbers, missing: set[int], *, stream: bool) -> Iterator[tuple[UUID, pa.Table]]:
        way, middle = ("orders", "sent") if stream else ("bills", "held")
        protocol = "srmp" if stream else "httpr"
        kinds, queue = ["queued", middle, "delivered"], f"DIRECT=HTTP://beta/{way}"
        out = reported(ALPHA, kinds, queue, "outgoing", self._events[ALPHA], numbers, [0, 90, 2000])
        subjects(out, 3, numbers, stream=False)
        out["protocol"] = words(protocol, len(numbers) * 3)
        self._events[ALPHA] += len(numbers) * 3
        yield ALPHA, batch(out, len(numbers) * 3)
        there = np.array([each for each in numbers if each not in missing])
        came = reported(
            BETA, ["arrived", "received"], way, "local", self._events[BETA], there, [1000, 40_000]
        )
        subjects(came, 2, there, stream)
        came["protocol"] = pa.array([protocol, "api"] * len(there))
        self._events[BETA] += len(there) * 2
        yield BETA, batch(came, len(there) * 2)

    def _clock(self, manager: UUID, end: Numbers) -> pa.Table:
        numbers = end + (1 << 40)  # of no message that is sent later
        last = reported(
            manager, ["accepted", "received"], "clock", "local", self._events[manager], numbers, [0, 1]
        )
        at = BEGIN + np.array([end[0] * STEP, end[0] * STEP + 1])
        last["time"] = pa.array(at).cast(SCHEMA.field("time").type)
        subjects(last, 2, numbers, stream=False)
        self._events[manager] += 2
        return batch(last, 2)


def grown(history: History, messages: int, lost: int = 0) -> tuple[History, int]:
    """Let another process write more messages, so that its memory is not counted."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_grow, history, messages, lost).result()


def _grow(history: History, messages: int, lost: int) -> tuple[History, int]:
    return history, history.grow(messages, lost)


# -- what it costs


def processes() -> list[Path]:
    """Return this process and all that it started, as the system shows them."""
    parents: dict[int, int] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError, IndexError):
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
    family = {os.getpid()}
    while more := {each for each, parent in parents.items() if parent in family} - family:
        family |= more
    return [Path("/proc") / str(each) for each in family]


def processor() -> float:
    """Return the seconds of processor time that all of them have used, ended children included."""
    total = 0
    for path in processes():
        with suppress(OSError):
            total += sum(map(int, (path / "stat").read_text().rpartition(")")[2].split()[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def memory() -> float:
    """Return what all of them have in memory, shared pages in parts, in megabytes."""
    total = 0
    for path in processes():
        with suppress(OSError, IndexError):
            total += int((path / "smaps_rollup").read_text().split("\nPss:")[1].split()[0])
    return total / 1024


class Peak(threading.Thread):
    """Looks at the memory again and again, and remembers the most."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0.0
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.1):
            self.most = max(self.most, memory())

    def end(self) -> float:
        self._ended.set()
        self.join()
        return self.most


def measure(spark: SparkSession, config: AuditConfig, lost: int) -> Cost:
    peak = Peak()
    peak.start()
    marks = [(time.perf_counter(), processor(), "start")]
    report = run_audit(spark, config, lambda line: marks.append((time.perf_counter(), processor(), line)))
    marks.append((time.perf_counter(), processor(), "end"))
    most = peak.end()
    for (one, before, line), (two, after, _) in pairwise(marks):
        print(f"  {line:40} {two - one:6.1f} s, {after - before:6.1f} s of processor time")
    assert report.found[FindingKind.LOST] == lost, report.found
    assert sum(report.found.values()) == lost, report.found
    assert not any(report.unjudged.values()), report.unjudged
    took, worked = marks[-1][0] - marks[0][0], marks[-1][1] - marks[0][1]
    print(f"  all: {took:.1f} s, {worked:.1f} s of processor time, {most:,.0f} MB at most in memory")
    return Cost(report.events, took, worked, most)


def plain(spark: SparkSession, folders: list[str]) -> tuple[float, float]:
    """Seconds, and seconds of processor time, of a plain count."""
    began, start = time.perf_counter(), processor()
    every = reduce(lambda one, two: one.union(two), (spark.read.parquet(each) for each in folders))
    every.selectExpr("count(event)", "max(time)").collect()
    return time.perf_counter() - began, processor() - start


def audit(events: int, given: dict[str, str]) -> tuple[Cost, Cost]:
    """Audit a history of this many events, then a little more; return both costs."""
    with tempfile.TemporaryDirectory(prefix="reliquary-audit-") as name:
        folder = Path(name)
        began = time.perf_counter()
        history, size = grown(History(folder / "history"), events // EVENTS, LOST)
        print(f"made {events:,} events, {size / 1e6:.1f} MB, in {time.perf_counter() - began:.1f} s")
        conf = {"spark.master": "local[2]", "spark.driver.memory": "1g", "spark.log.level": "ERROR"}
        spark = session("bench", **(conf | given))
        spark.range(1000).selectExpr("sum(id)").collect()
        everything = [str(folder / "history" / each) for each in NAMES.values()]
        config = AuditConfig(everything, folder / "out")
        counted, busy = plain(spark, everything)
        print(f"audit of {events:,} events")
        whole = measure(spark, config, LOST)
        print(
            f"  {whole.events / whole.seconds:,.0f} events/s; {whole.seconds / counted:.1f} times a plain "
            f"count ({counted:.1f} s), {whole.worked / busy:.1f} times its processor time"
        )
        grown(history, NEW // EVENTS)
        print(f"audit of {NEW:,} events more")
        more = measure(spark, config, LOST)
        spark.stop()
        return whole, more


def main() -> None:
    """Measure each size, judge it by the goals, and print how the costs grow."""
    parser = argparse.ArgumentParser(
        prog="./dev bench audit", description="How long the delivery audit takes."
    )
    parser.add_argument("--events", type=float, nargs="+", default=[GOAL_EVENTS], help="sizes of the history")
    parser.add_argument("--conf", action="append", default=[], help="NAME=VALUE for the Spark session")
    arguments = parser.parse_args()
    given = dict(each.split("=", 1) for each in arguments.conf)
    costs, rows = [], []
    for events in arguments.events:
        whole, more = audit(int(events), given)
        goals = judged(whole, more)
        print("  " + "; ".join(goals), f"(load {os.getloadavg()[0]:.1f})", flush=True)
        costs.append(whole)
        rows.append({"conf": given, "whole": asdict(whole), "more": asdict(more), "goals": goals})
    for one, two in pairwise(costs):
        growth = math.log(two.events / one.events)
        print(
            f"from {one.events:,} to {two.events:,} events: time grows with the power "
            f"{math.log(two.seconds / one.seconds) / growth:.2f} of the events, processor time "
            f"{math.log(two.worked / one.worked) / growth:.2f}, "
            f"memory {math.log(two.most / one.most) / growth:.2f}"
        )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "audit.json").write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""How long the delivery audit takes: ten million events of two managers, on two cores with two gigabytes.

    python -m bench.audit                 the whole size
    python -m bench.audit --events 1e6    smaller

The history is made with Arrow, as the exporter writes it: from alpha to beta over SRMP streams and HTTPR
batches, five events a message.  Ten messages are lost on purpose and must be found.  A plain count over the
same files in the same session says what this machine gives; on a busy machine the seconds of processor time
of Spark's process say more than those of the clock.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.spark.pipelines.audit.rules import Kind
from reliquary.spark.pipelines.audit.run import AuditConfig, run_audit
from reliquary.spark.session import session
from reliquary.store.history.columns import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALPHA, BETA = str(UUID(int=1)), str(UUID(int=2))
Numbers = np.ndarray[Any, Any]
BEGIN = 1_772_000_000_000_000
STEP = 500
"""Microseconds between two messages."""
PART = 100_000
"""Messages in a file."""
LOST = 10


def batch(columns: dict[str, pa.Array | None], count: int) -> pa.Table:
    filled = [columns[each.name] if each.name in columns else pa.nulls(count, each.type) for each in SCHEMA]
    return pa.table(filled, schema=SCHEMA)


def words(word: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(word, pa.string()), count)


def told(
    manager: str, event: list[str], queue: str, kind: str, first: int, numbers: Numbers, delays: list[int]
) -> dict[str, pa.Array]:
    """Every message with each of these events, message after message."""
    several, count = len(event), len(numbers) * len(event)
    message = np.repeat(numbers, several)
    at = BEGIN + message * STEP + np.tile(np.array(delays), len(numbers))
    return {
        "version": pa.repeat(pa.scalar(1, pa.int32()), count),
        "event_id": pa.array(first + np.arange(count)),
        "event": pa.array(event).take(pa.array(np.tile(np.arange(several), len(numbers)))),
        "time": pa.array(at).cast(SCHEMA.field("time").type),
        "manager": words(manager, count),
        "manager_name": words({ALPHA: "alpha", BETA: "beta"}[manager], count),
        "queue": words(queue, count),
        "queue_kind": words(kind, count),
        "message": pa.array(message),
        "lookup_id": pa.array(message),
    }


def subjects(columns: dict[str, pa.Array], several: int, numbers: Numbers, stream: bool) -> None:
    """The first event of each message says who it is."""
    count = len(numbers) * several
    first = pa.array(np.arange(count) % several != 0)
    ids = pa.array(np.repeat(numbers, several)).cast(pa.string())
    text = pa.compute.binary_join_element_wise(words(ALPHA, count), ids, "\\")
    columns["message_id"] = pa.compute.if_else(first, pa.scalar(None, pa.string()), text)
    columns["durable"] = pa.compute.if_else(first, pa.scalar(None, pa.bool_()), pa.scalar(True))
    if stream:
        columns["stream"] = pa.compute.if_else(
            first, pa.scalar(None, pa.string()), words("1.1772000000", count)
        )
        number = pa.array(np.repeat(numbers, several))
        columns["stream_number"] = pa.compute.if_else(first, pa.scalar(None, pa.int64()), number)


def parts(messages: int) -> Iterator[tuple[str, pa.Table]]:
    """All files of both managers."""
    events = {ALPHA: 1, BETA: 1}
    lost = set(range(messages // 2, messages // 2 + LOST))
    for begin in range(0, messages, PART):
        numbers = np.arange(begin + 1, min(begin + PART, messages) + 1)
        stream = begin // PART % 2 == 0
        way, middle = ("orders", "sent") if stream else ("bills", "held")
        protocol = "srmp" if stream else "httpr"
        out = told(
            ALPHA,
            ["queued", middle, "delivered"],
            f"DIRECT=HTTP://beta/{way}",
            "outgoing",
            events[ALPHA],
            numbers,
            [0, 90, 2000],
        )
        subjects(out, 3, numbers, stream=False)
        out["protocol"] = words(protocol, len(numbers) * 3)
        events[ALPHA] += len(numbers) * 3
        yield ALPHA, batch(out, len(numbers) * 3)
        there = np.array([each for each in numbers if each not in lost])
        came = told(BETA, ["arrived", "received"], way, "local", events[BETA], there, [1000, 40_000])
        subjects(came, 2, there, stream)
        came["protocol"] = pa.array([protocol, "api"] * len(there))
        events[BETA] += len(there) * 2
        yield BETA, batch(came, len(there) * 2)
    end = np.array([messages + 10 * 60 * 1_000_000 // STEP])
    for manager in (ALPHA, BETA):
        last = told(manager, ["accepted", "received"], "clock", "local", events[manager], end, [0, 1])
        subjects(last, 2, end, stream=False)
        yield manager, batch(last, 2)


def write(folder: Path, events: int) -> int:
    """Make the history; returns its bytes."""
    for number, (manager, table) in enumerate(parts(events // 5)):
        place = folder / manager
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, place / f"{number:06d}.parquet", compression="zstd")
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def process_of(spark: SparkSession) -> Path:
    """What the system tells of Spark's process."""
    jvm: Any = spark._jvm
    return Path("/proc") / str(jvm.java.lang.ProcessHandle.current().pid())


def peak(spark: SparkSession) -> float:
    """The most that Spark's process has had in memory so far, in megabytes."""
    return int((process_of(spark) / "status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def processor(spark: SparkSession) -> float:
    """The seconds of processor time that Spark's process has used."""
    fields = (process_of(spark) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description="How long the delivery audit takes.")
    parser.add_argument("--events", type=float, default=10_000_000)
    events = int(parser.parse_args().events)
    with tempfile.TemporaryDirectory(prefix="reliquary-audit-") as name:
        folder = Path(name)
        began = time.perf_counter()
        size = write(folder / "history", events)
        print(f"made {events:,} events, {size / 1e6:.0f} MB, in {time.perf_counter() - began:.1f} s")
        conf = {"spark.master": "local[2]", "spark.driver.memory": "2g", "spark.log.level": "ERROR"}
        spark = session("bench", **conf)
        spark.range(1000).selectExpr("sum(id)").collect()
        everything = str(folder / "history" / "*")
        began = time.perf_counter()
        start = processor(spark)
        counted = spark.read.parquet(everything).selectExpr("count(event)", "max(time)").collect()[0][0]
        plain = time.perf_counter() - began
        busy = processor(spark)
        marks = [(time.perf_counter(), busy, "start")]
        report = run_audit(
            spark,
            AuditConfig([everything], folder / "out"),
            lambda line: marks.append((time.perf_counter(), processor(spark), line)),
        )
        marks.append((time.perf_counter(), processor(spark), "end"))
        for (one, before, line), (two, after, _) in pairwise(marks):
            print(f"  {line:40} {two - one:6.1f} s, {after - before:6.1f} s of processor time")
        took = marks[-1][0] - marks[0][0]
        assert report.found[Kind.LOST] == LOST, report.found
        assert sum(report.found.values()) == LOST, report.found
        assert not any(report.unjudged.values()), report.unjudged
        print(f"audit of {counted:,} events: {took:.1f} s, {counted / took:,.0f} events/s")
        print(f"  {took / plain:.1f} times a plain count ({plain:.1f} s)")
        worked = marks[-1][1] - busy
        print(
            f"  {worked:.1f} s of processor time in Spark's process, {worked / (busy - start):.1f} times a "
            f"plain count; before both {start:.1f} s for the start"
        )
        print(f"  {peak(spark):,.0f} MB at most in memory, with 2 GB of heap")
        spark.stop()


if __name__ == "__main__":
    main()

"""How do time and memory of the lake grow with its rows?

    python -m bench.lake                       a million rows, then ten million
    python -m bench.lake --rows 1e5 4e5        smaller
    python -m bench.lake --bad 100             every hundredth message goes to the quarantine

Messages come from files, as bronze has them, so that no server is measured: SOAP, JSON and bytes in turn,
100,000 to a batch.  With `--bad N` every Nth is JSON that breaks off.  Each size is a lake of its own in a
process of its own; bronze, silver, gold and compaction run as in `reliquary pipeline run lake`.  Processor
time and memory are those of all processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from bench.audit import Peak, processor
from bench.queue import RESULTS
from bench.slopes import Point, slope
from bench.spark import LINE, SOAP
from reliquary.spark.pipelines.lake import run_lake
from reliquary.spark.pipelines.settings import LakeSettings
from reliquary.spark.schema import ARROW
from reliquary.spark.session import session
from reliquary.wire.columns import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILE = 50_000
"""Rows of a file; two of them are a batch."""
MADE = pa.schema([(column.name, ARROW[column.kind]) for column in COLUMNS])
BEGAN = datetime(2026, 11, 15, 12, tzinfo=UTC)
COMPACT = 8
"""Batches that become one, so that the smallest size has a compaction."""


def main() -> None:
    """Measure each size, and print how the costs grow."""
    parser = argparse.ArgumentParser(prog="./dev bench lake", description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7], help="sizes of the lake")
    parser.add_argument("--bad", type=int, default=0, help="every Nth message is damaged; 0: none")
    parser.add_argument("--folder", default=None, help="where the lakes lie")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(int(arguments.rows[0]), arguments.bad, Path(arguments.folder))))
        return
    print("      rows   seconds  processor s  us/row  MB at most  disk B/row   load")
    found = []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            command = [sys.executable, "-m", "bench.lake", "--one", "--rows", str(rows), "--folder", folder]
            command += ["--bad", str(arguments.bad)]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        found.append(json.loads(output.splitlines()[-1]))
        _print(found[-1])
    if len(found) > 1:
        costs = [Point(each["rows"], each["processor"]) for each in found]
        most = [Point(each["rows"], each["memory"]) for each in found]
        print(f"grow with rows to the power of: processor time {slope(costs):.2f}, memory {slope(most):.2f}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "lake.json").write_text(json.dumps(found, indent=2) + "\n")


def _print(row: dict[str, Any]) -> None:
    each = row["processor"] / row["rows"] * 1e6
    print(
        f"{row['rows']:>10,} {row['seconds']:>9.1f} {row['processor']:>12.1f} {each:>7.1f}"
        f" {row['memory']:>11,.0f} {row['disk'] / row['rows']:>11.0f} {os.getloadavg()[0]:>6.1f}",
        flush=True,
    )


def measured(rows: int, bad: int, folder: Path) -> dict[str, Any]:
    """Make a lake of this size with a bad message in every `bad`, and return what that took."""
    feed = folder / "feed"
    feed.mkdir()
    files = max(1, rows // FILE)
    parquet.write_table(messages(bad), feed / "0.parquet")
    for number in range(1, files):
        os.link(feed / "0.parquet", feed / f"{number}.parquet")
    spark = session("bench lake", **{"spark.driver.memory": "1g", "spark.log.level": "ERROR"})
    settings = LakeSettings(lake=folder / "lake", queues=("orders",), compact_batches=COMPACT, grace=0)
    began, worked, peak = perf_counter(), processor(), Peak()
    peak.start()
    report = run_lake(spark, settings, feed=lambda *_: _stream(spark, feed))
    seconds, worked, most = perf_counter() - began, processor() - worked, peak.end()
    spark.stop()
    damaged = len(range(0, FILE, bad)) * files if bad else 0
    assert report.added("silver/quarantine") == damaged, report
    assert report.added("silver/messages") == files * FILE - damaged, report
    return {
        "rows": files * FILE,
        "damaged": damaged,
        "seconds": seconds,
        "processor": worked,
        "memory": most,
        "disk": sum(path.stat().st_size for path in settings.lake.rglob("*") if path.is_file()),
    }


def _stream(spark: SparkSession, folder: Path) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    reader = spark.readStream.schema(from_arrow_schema(MADE)).option("maxFilesPerTrigger", 2)
    return reader.parquet(str(folder))


def messages(bad: int = 0) -> pa.Table:
    """Return rows of one file: SOAP of 860 bytes, JSON, and bytes that are neither, in turn; some damaged."""
    kinds = (
        lambda number: SOAP % (number, number, LINE * 7),
        lambda number: b'{"order": %d, "customer": "C-%d", "lines": [1, 2, 3]}' % (number, number),
        lambda number: bytes(range(256)) * 4,
    )

    def body(number: int) -> bytes:
        return b'{"order": %d, ' % number if bad and number % bad == 0 else kinds[number % 3](number)

    columns = {
        "queue": pa.array(["orders"] * FILE),
        "feed_id": pa.array(range(FILE), pa.int64()),
        "arrived": pa.array([BEGAN] * FILE, pa.timestamp("us", tz="UTC")),
        "size": pa.array([1000] * FILE, pa.int64()),
        "body": pa.array([body(number) for number in range(FILE)], pa.binary()),
    }
    return pa.table(
        [columns.get(field.name, pa.nulls(FILE, field.type)).cast(field.type) for field in MADE], schema=MADE
    )


if __name__ == "__main__":
    main()

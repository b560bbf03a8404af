"""How fast do queues become rows, rows queues, and SOAP columns, with Spark beside the server?"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from bench.choices import some_of
from bench.queue import RESULTS
from bench.server import Server
from reliquary.client.feed import FeedClient, StageKey
from reliquary.spark.pipelines.silver import DECODED, DECODED_FROM, decode_batches, decoded
from reliquary.spark.schema import ARROW, BY_NAME, ddl
from reliquary.spark.session import session

PORT = 18580
BODY = 1024
PART = 50_000
"""Rows that are staged at once."""
BATCH = 100_000
"""The largest number of rows of a micro-batch, unless `--batch` is given."""
BATCHES = 4
"""The least number of micro-batches of a stream: the first one is not counted."""
LOOK = 0.05
"""Seconds between two looks at a query whose first batch has not ended."""
CHUNK = 10_000
"""Rows of a record batch."""
ENVELOPES = 200_000
USUAL = (
    "queue", "feed_id", "lookup_id", "arrived", "size", "handed_out", "aborted", "moved", "id", "source",
    "sent", "class", "body_size", "body", "body_type", "label", "priority", "durable", "correlation", "tag",
    "destination_queue", "manager",
)  # fmt: skip
"""Columns that usual messages have, or that their applications ask for."""
NARROW = "feed_id bigint, lookup_id bigint, arrived timestamp, size bigint"
COPIED = "body binary, label string"
GOALS = {
    "batch read": 200_000,
    "narrow read": 400_000,
    "queue to queue": 60_000,
    "SOAP decode": 60_000,
    "SOAP to silver": 40_000,
}
SHAPES = "made-up rows"
RATIO = 0.35
"""The batch read meets its goal also with this share of the rate of its reference."""
WARM = 3
"""Runs of each before those that count: until then Java compiles the code that it runs often."""
SOAP = (
    b'<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">'
    b'<soap:Header><o:trace xmlns:o="urn:orders">%d</o:trace></soap:Header><soap:Body>'
    b'<o:order xmlns:o="urn:orders"><o:customer>C-%d</o:customer>%b</o:order></soap:Body></soap:Envelope>'
)
LINE = b"<o:line><o:item>lamp</o:item><o:count>2</o:count><o:price>12.50</o:price></o:line>"


def main() -> None:
    """Measure what is asked for."""
    arguments = _arguments()
    measures: dict[str, Callable[[Bench], dict[str, Any]]] = {
        "batch read": batch_read,
        "narrow read": narrow_read,
        "queue to queue": queue_to_queue,
        "SOAP decode": soap_decode,
        "SOAP to silver": soap_to_silver,
    }
    rows = []
    print("what              rows/s      goal  of reference  server us/row  Spark us/row   load")
    with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
        bench = Bench(Path(folder), arguments.rows, arguments.runs, arguments.batch)
        with bench.server:
            bench.server.create_queue("bench")
            for name, measure in measures.items():
                if name in arguments.only:
                    rows.append({"what": name, "goal": GOALS[name], **measure(bench)})
                    _print(rows[-1])
            if SHAPES in arguments.only:
                rows += shapes(bench)
            bench.spark.stop()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "spark.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000, help="messages in the queue")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the middle one counts")
    parser.add_argument("--batch", type=int, default=BATCH, help="rows of a micro-batch, at most")
    parser.add_argument(
        "--only", type=some_of((*GOALS, SHAPES)), default=",".join(GOALS), help="which to measure"
    )
    parser.add_argument("--folder", default=None, help="the folder of the store")
    return parser.parse_args()


def _print(row: dict[str, Any]) -> None:
    print(
        f"{row['what']:<15} {row['rows_per_second']:>8} {row['goal'] or '-':>9} {row['of_reference']:>13}"
        f" {row['server_us_per_row']:>14} {row['spark_us_per_row']:>13} {os.getloadavg()[0]:>6.1f}"
        f"  {_verdict(row)}",
        flush=True,
    )


def _verdict(row: dict[str, Any]) -> str:
    """Return whether a goal is met: that of the rate, or for the batch read that of the ratio."""
    if row["rows_per_second"] >= row["goal"]:
        return "met"
    if row["what"] == "batch read" and row["of_reference"] >= RATIO:
        return f"met: {RATIO} of the reference"
    return "not met"


class Measured(NamedTuple):
    """The figures of one run."""

    rows_per_second: float
    server_us_per_row: float
    """Processor time of the server."""
    spark_us_per_row: float
    """Processor time of Spark: the driver, its Java, and the Python workers."""


class Clock:
    """How long something takes, and how much of the processors."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._began = self._now()

    def _now(self) -> tuple[float, float, float]:
        return perf_counter(), self._server.cpu_seconds(), _cpu_of_others(self._server.pid)

    def stop(self, rows: float) -> Measured:
        """Return the figures since the start, for this many rows."""
        elapsed, server, spark = (now - then for now, then in zip(self._now(), self._began, strict=True))
        return Measured(rows / elapsed, server / rows * 1e6, spark / rows * 1e6)


def _cpu_of_others(server: int) -> float:
    """Processor time of this process and of all that it started, but for the server."""
    parents, spent = {}, {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it ended meanwhile
            continue
        pid = int(each.parent.name)
        parents[pid], spent[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours and pid != server} - ours:
        ours |= more
    return sum(spent[pid] for pid in ours) / os.sysconf("SC_CLK_TCK")


class Bench:
    """A server, a session, and a queue that is filled when it is needed first."""

    def __init__(self, folder: Path, rows: int, runs: int, batch: int) -> None:
        self.folder = folder
        self.rows = rows
        self.runs = runs
        self.batch = max(1, min(batch, rows // BATCHES))
        self.server = Server(folder / "store", port=PORT, history_enabled=False)
        self.spark: SparkSession = session("bench", **{"spark.driver.memory": "3g"})
        self.spark.dataSource.register(Synthetic)
        self._filled = False

    @property
    def url(self) -> str:
        """The address of the server's data plane."""
        return f"http://{self.server.host}:{self.server.port}"

    def fill(self) -> None:
        """Put all messages into the queue."""
        if self._filled:
            return
        self._filled = True
        with FeedClient(self.url) as client:
            for batch, first in enumerate(range(0, self.rows, PART)):
                bodies = messages(first, min(PART, self.rows - first))
                place = StageKey("fill", batch, 0, "1")
                staged = client.stage("bench", place, bodies.to_batches(CHUNK), bodies.schema)
                client.publish("fill", batch, [staged.stage])

    def read(self, schema: str = "") -> DataFrame:
        """Return the queue as a table."""
        reader = self.spark.read.format("reliquary").option("url", self.url).option("queue", "bench")
        return (reader.schema(schema) if schema else reader).load()

    def made_up(self, schema: str = "") -> DataFrame:
        """Return as many rows as the queue has, which no server gives."""
        reader = self.spark.read.format("synthetic").option("rows", self.rows)
        return reader.schema(schema or ddl()).load()

    def middle(self, rows: int, *actions: Callable[[], None]) -> list[Measured]:
        """Return the middle run of each action, after some that warm up; the actions run in turn."""
        for _ in range(WARM):
            for action in actions:
                action()
        found: list[list[Measured]] = [[] for _ in actions]
        for _ in range(self.runs):
            for action, runs in zip(actions, found, strict=True):
                clock = Clock(self.server)
                action()
                runs.append(clock.stop(rows))
        return [sorted(runs)[len(runs) // 2] for runs in found]

    def soap(self) -> DataFrame:
        """Envelopes of about 880 bytes, as bronze has them, from a file."""
        path = self.folder / "soap.parquet"
        if not path.exists():
            bodies = [SOAP % (number, number, LINE * 7) for number in range(ENVELOPES)]
            columns = {name: pa.nulls(ENVELOPES, ARROW[BY_NAME[name].kind]) for name in DECODED_FROM}
            table = pa.table(columns | {"body": pa.array(bodies, pa.binary())})
            parquet.write_table(table, path, row_group_size=ENVELOPES // 8)
        return self.spark.read.parquet(str(path))


def messages(first: int, count: int) -> pa.Table:
    """Bodies of a kilobyte, no two alike, with labels."""
    numbers = range(first, first + count)
    bodies = [b"%010d" % number * (BODY // 10) + b"." * (BODY % 10) for number in numbers]
    labels = [f"order {number}" for number in numbers]
    return pa.table({"body": pa.array(bodies, pa.binary()), "label": pa.array(labels, pa.string())})


def noop(frame: DataFrame) -> None:
    """Read all of it, and keep nothing."""
    frame.write.format("noop").mode("overwrite").save()


# -- reads


def batch_read(bench: Bench) -> dict[str, Any]:
    """Return all columns of all messages."""
    return _measured_read(bench, "")


def narrow_read(bench: Bench) -> dict[str, Any]:
    """Return columns of positions alone: no message is touched."""
    return _measured_read(bench, NARROW)


def _measured_read(bench: Bench, schema: str) -> dict[str, Any]:
    bench.fill()
    return _figures(
        *bench.middle(bench.rows, lambda: noop(bench.read(schema)), lambda: noop(bench.made_up(schema)))
    )


def _figures(found: Measured, reference: Measured) -> dict[str, Any]:
    return {
        "rows_per_second": round(found.rows_per_second),
        "of_reference": round(found.rows_per_second / reference.rows_per_second, 3),
        "server_us_per_row": round(found.server_us_per_row, 2),
        "spark_us_per_row": round(found.spark_us_per_row, 2),
        "reference": reference._asdict(),
        "load": os.getloadavg()[0],
    }


class Synthetic(DataSource):
    """The reference: as many rows of this shape, made in Spark's own workers without any server."""

    @classmethod
    def name(cls) -> str:
        return "synthetic"

    def schema(self) -> str:
        return ddl()

    def reader(self, schema: StructType) -> DataSourceReader:
        return SyntheticReader(schema, int(self.options["rows"]))


class SyntheticReader(DataSourceReader):
    """Yields one record batch over and over."""

    def __init__(self, schema: StructType, rows: int) -> None:
        self.schema = schema
        self.rows = rows

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(part) for part in range(2)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        given, schema = messages(0, CHUNK), to_arrow_schema(self.schema, timezone="UTC")
        columns = [
            given[field.name].combine_chunks() if field.name in given.column_names
            else pa.nulls(CHUNK, field.type)
            for field in schema
        ]  # fmt: skip
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        for _ in range(self.rows // CHUNK // 2):
            yield batch


def shapes(bench: Bench) -> list[dict[str, Any]]:
    """Print what made-up rows cost Spark: all columns, without the rare ones, and with these in a struct."""
    fields = {name: f"{name} {BY_NAME[name].kind.value}" for name in BY_NAME}
    usual = [fields[name] for name in USUAL]
    rare = [f"{name}: {BY_NAME[name].kind.value}" for name in fields if name not in USUAL]
    schemas = {
        "all columns": list(fields.values()),
        "usual columns": usual,
        "rare ones in a struct": [*usual, f"rare struct<{', '.join(rare)}>"],
    }
    frames = {name: bench.made_up(", ".join(schema)) for name, schema in schemas.items()}
    found = bench.middle(bench.rows, *(partial(noop, frame) for frame in frames.values()))
    rows = []
    for (name, schema), each in zip(schemas.items(), found, strict=True):
        rows.append({"what": f"{SHAPES}, {name}", "columns": len(schema), **each._asdict()})
        print(
            f"{SHAPES}, {name} ({len(schema)}): {each.spark_us_per_row:.2f} us/row,"
            f" {each.rows_per_second:,.0f} rows/s"
        )
    return rows


# -- a stream from queue to queue


def queue_to_queue(bench: Bench) -> dict[str, Any]:
    """Copy all of one queue into another, exactly once, in batches; the first batch warms Spark up.

    Rates are of the middle batch, processor times of all batches after the first.
    """
    bench.fill()
    bench.server.create_queue("copy", transactional=True)
    source = (
        bench.spark.readStream.format("reliquary")
        .options(url=bench.url, queue="bench", consumer="bench", maxRowsPerBatch=str(bench.batch))
        .schema(COPIED)
        .load()
    )
    query = (
        source.writeStream.format("reliquary")
        .options(url=bench.url, queue="copy", checkpointLocation=str(bench.folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    while not (ended := _batches(query)) and query.isActive:
        sleep(LOOK)
    clock = Clock(bench.server)
    query.awaitTermination()
    rest = clock.stop(bench.rows - sum(each.numInputRows for each in ended))
    warm = sorted(each.numInputRows / each.batchDuration * 1000 for each in _batches(query)[1:])
    found = rest._replace(rows_per_second=warm[len(warm) // 2])
    return _figures(found, *bench.middle(bench.rows, lambda: noop(bench.read(COPIED))))


def _batches(query: StreamingQuery) -> list[Any]:
    """Return the progress of the batches that have ended, without those that had no rows."""
    return [each for each in query.recentProgress if each.numInputRows]


# -- decoding


def soap_decode(bench: Bench) -> dict[str, Any]:
    """SOAP of about 880 bytes through the codecs of silver; the reference hands rows on as they are."""
    frame = bench.soap()
    schema = StructType([*frame.schema, *from_arrow_schema(DECODED)])
    return _decoded(bench, lambda: noop(frame.mapInArrow(decode_batches, schema)))


def soap_to_silver(bench: Bench) -> dict[str, Any]:
    """Return the SOAP of `soap_decode` through the codecs, and Spark makes VARIANT of it."""
    frame = bench.soap()
    return _decoded(bench, lambda: noop(decoded(frame)))


def _decoded(bench: Bench, action: Callable[[], None]) -> dict[str, Any]:
    frame = bench.soap()
    reference = frame.mapInArrow(lambda batches: batches, frame.schema)
    return _figures(*bench.middle(ENVELOPES, action, lambda: noop(reference)))


if __name__ == "__main__":
    main()

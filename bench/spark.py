"""How fast do queues become rows, rows become queues, and SOAP become columns, with Spark beside the server?"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from bench.queue import RESULTS
from bench.server import Server
from reliquary.client.feed import FeedClient, StagePlace
from reliquary.spark.pipelines.silver import DECODED_FROM, decoded
from reliquary.spark.schema import ddl
from reliquary.spark.session import session

PORT = 18580
BODY = 1024
PART = 50_000
"""Rows that are staged at once."""
BATCH = 100_000
"""Rows of a micro-batch."""
NARROW = "feed_id bigint, lookup_id bigint, arrived timestamp, size bigint"
GOALS = {"batch read": 150_000, "narrow read": 400_000, "queue to queue": 40_000, "SOAP decode": 60_000}
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
    }
    rows = []
    print("what              rows/s      goal  of reference  server us/row")
    with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
        bench = Bench(Path(folder), arguments.rows, arguments.runs)
        with bench.server:
            bench.server.create_queue("bench")
            for name, measure in measures.items():
                if name in arguments.only.split(","):
                    rows.append({"what": name, "goal": GOALS[name], **measure(bench)})
                    _print(rows[-1])
            bench.spark.stop()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "spark.json").write_text(json.dumps(rows, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000, help="messages in the queue")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the middle one counts")
    parser.add_argument("--only", default=",".join(GOALS), help="which to measure")
    parser.add_argument("--folder", default=None, help="where the store lies")
    return parser.parse_args()


def _print(row: dict[str, Any]) -> None:
    print(
        f"{row['what']:<15} {row['rows_per_second']:>8} {row['goal']:>9} {row['of_reference']:>13}"
        f" {row['server_us_per_row']:>14}",
        flush=True,
    )


class Bench:
    """A server, a session, and a queue that is filled when it is needed first."""

    def __init__(self, folder: Path, rows: int, runs: int) -> None:
        self.folder = folder
        self.rows = rows
        self.runs = runs
        self.server = Server(folder / "store", port=PORT, history_enabled=False)
        self.spark: SparkSession = session("bench", **{"spark.driver.memory": "3g"})
        self.spark.dataSource.register(Synthetic)
        self._filled = False

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"http://{self.server.host}:{self.server.port}"

    def fill(self) -> None:
        """Put all messages into the queue."""
        if self._filled:
            return
        self._filled = True
        with FeedClient(self.url) as client:
            for batch, first in enumerate(range(0, self.rows, PART)):
                bodies = messages(first, min(PART, self.rows - first))
                place = StagePlace("fill", batch, 0, "1")
                staged = client.stage("bench", place, bodies.to_batches(10_000), bodies.schema)
                client.publish("fill", batch, [staged.stage])

    def read(self, schema: str = "") -> DataFrame:
        """The queue as a table."""
        reader = self.spark.read.format("reliquary").option("url", self.url).option("queue", "bench")
        return (reader.schema(schema) if schema else reader).load()

    def middle(self, action: Callable[[], float]) -> tuple[float, float]:
        """Rows a second of the middle run, and the server's processor time for a row, in microseconds."""
        found = []
        action()
        for _ in range(self.runs):
            cpu, start = self.server.cpu_seconds(), perf_counter()
            rows = action()
            elapsed = perf_counter() - start
            found.append((rows / elapsed, (self.server.cpu_seconds() - cpu) / rows * 1e6))
        return sorted(found)[len(found) // 2]


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
    """All columns of all messages."""
    return _measured_read(bench, "")


def narrow_read(bench: Bench) -> dict[str, Any]:
    """Columns of positions alone: no message is touched."""
    return _measured_read(bench, NARROW)


def _measured_read(bench: Bench, schema: str) -> dict[str, Any]:
    bench.fill()
    rate, cost = bench.middle(lambda: _read(bench, bench.read(schema)))
    synthetic = bench.spark.read.format("synthetic").option("rows", bench.rows).schema(schema or ddl()).load()
    reference, _ = bench.middle(lambda: _read(bench, synthetic))
    return _figures(rate, reference, cost)


def _read(bench: Bench, frame: DataFrame) -> float:
    noop(frame)
    return bench.rows


def _figures(rate: float, reference: float, cost: float) -> dict[str, Any]:
    return {
        "rows_per_second": round(rate),
        "of_reference": round(rate / reference, 3),
        "reference_rows_per_second": round(reference),
        "server_us_per_row": round(cost, 2),
    }


class Synthetic(DataSource):
    """The reference: as many rows of the same shape, made in Spark's own workers without any server."""

    @classmethod
    def name(cls) -> str:
        return "synthetic"

    def schema(self) -> str:
        return ddl()

    def reader(self, schema: Any) -> DataSourceReader:
        return SyntheticReader(schema, int(self.options["rows"]))


class SyntheticReader(DataSourceReader):
    """Yields one record batch over and over."""

    def __init__(self, schema: Any, rows: int) -> None:
        self.fields = schema
        self.rows = rows

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(part) for part in range(2)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        from pyspark.sql.pandas.types import to_arrow_schema

        schema, size = to_arrow_schema(self.fields), 10_000
        given = messages(0, size)
        columns = [
            given[field.name].combine_chunks() if field.name in given.column_names
            else pa.nulls(size, field.type)
            for field in schema
        ]  # fmt: skip
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        for _ in range(self.rows // size // 2):
            yield batch


# -- a stream from queue to queue


def queue_to_queue(bench: Bench) -> dict[str, Any]:
    """All of one queue into another, exactly once, in batches; the first batch warms Spark up."""
    bench.fill()
    bench.server.create_queue("copy", transactional=True)
    source = (
        bench.spark.readStream.format("reliquary")
        .options(url=bench.url, queue="bench", consumer="bench", maxRowsPerBatch=str(BATCH))
        .load()
    )
    cpu = bench.server.cpu_seconds()
    query = (
        source.select("body", "label")
        .writeStream.format("reliquary")
        .options(url=bench.url, queue="copy", checkpointLocation=str(bench.folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    cpu = bench.server.cpu_seconds() - cpu
    batches = [each for each in query.recentProgress if each.numInputRows]
    warm = sorted(each.numInputRows / each.batchDuration * 1000 for each in batches[1:])
    rate = warm[len(warm) // 2]
    reference, _ = bench.middle(lambda: _read(bench, bench.read("body binary, label string")))
    return _figures(rate, reference, cpu / bench.rows * 1e6)


# -- decoding


def soap_decode(bench: Bench) -> dict[str, Any]:
    """SOAP of about 880 bytes through the codecs of silver, in `mapInArrow`; the reference decodes nothing."""
    count = min(bench.rows, 200_000)
    path = str(bench.folder / "soap.parquet")
    bodies = [SOAP % (number, number, LINE * 7) for number in range(count)]
    table = pa.table({"body": pa.array(bodies, pa.binary())})
    empty = {name: pa.nulls(count, pa.string()) for name in DECODED_FROM[2:]}
    table = table.append_column("body_type", pa.nulls(count, pa.int64()))
    for name, column in empty.items():
        table = table.append_column(name, column)
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    pq.write_table(table, path, row_group_size=count // 8)
    frame = bench.spark.read.parquet(path)

    def decode() -> float:
        noop(decoded(frame, variants=False))
        return count

    def copy() -> float:
        noop(frame.mapInArrow(lambda batches: batches, frame.schema))
        return count

    rate, _ = bench.middle(decode)
    reference, _ = bench.middle(copy)
    return _figures(rate, reference, 0)


if __name__ == "__main__":
    main()

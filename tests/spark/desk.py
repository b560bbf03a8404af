"""What the tests of the whole way share: queues to fill, queries that run to their end, what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyspark.errors import StreamingQueryException

from reliquary.client.sync.manager import Manager

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SLOW_START = "Python worker failed to connect back"
"""Spark gives a process ten seconds to start, which on a busy machine is not always enough."""
NARROW = "queue string, feed_id bigint, body binary"
_NUMBERS = itertools.count(1)


def fresh(word: str) -> str:
    """Return a name that no other test has."""
    return f"{word}{next(_NUMBERS)}"


@dataclass(frozen=True)
class Desk:
    """One test's view of Spark and of a server."""

    spark: SparkSession
    manager: Manager
    url: str
    folder: Path

    # -- queues

    def queue(self, word: str = "q", bodies: Iterable[str] = (), **options: Any) -> str:
        """Return a fresh queue with these messages."""
        name = fresh(word)
        self.manager.create_queue(name, **options)
        self.send(name, *bodies)
        return name

    def send(self, queue: str, *bodies: str) -> None:
        if bodies:
            self.manager.queue(queue).send_many(list(bodies))

    def bodies(self, queue: str) -> list[str]:
        """Return the bodies of the messages in a queue, in order."""
        return [message.body.decode() for message in self.manager.queue(queue).browse()]

    # -- reading

    def read(self, queue: str, schema: str | None = None, **options: str) -> DataFrame:
        reader = self.spark.read.format("reliquary").options(url=self.url, queue=queue, **options)
        return (reader.schema(schema) if schema else reader).load()

    def stream(self, queue: str, schema: str = NARROW, **options: str) -> DataFrame:
        given = {"url": self.url, "queue": queue, "consumer": "lake"} | options
        return self.spark.readStream.format("reliquary").schema(schema).options(**given).load()

    # -- queries that run to their end

    def run(self, rows: DataFrame, name: str, kind: str = "parquet", **options: str) -> list[int]:
        """Run a query over what is there now; the rows of each batch that had some."""
        given = {"checkpointLocation": str(self.checkpoint(name))} | options
        if kind == "parquet":
            given["path"] = str(self.folder / name)
        writer = rows.writeStream.format(kind).options(**given).trigger(availableNow=True)
        for _ in range(5):
            query = writer.start()
            try:
                query.awaitTermination()
            except StreamingQueryException as failed:
                if SLOW_START in str(failed):
                    continue
                raise
            return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]
        raise AssertionError("Spark cannot start its processes: this machine does too much else")

    def run_to_queue(self, rows: DataFrame, name: str, **options: str) -> list[int]:
        return self.run(rows, name, "reliquary", **({"url": self.url} | options))

    def checkpoint(self, name: str) -> Path:
        return self.folder / f"{name}-checkpoint"

    def files(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of all files that a query wrote, in the order of arrival."""
        found = [
            row
            for path in sorted((self.folder / name).glob("*.parquet"))
            for row in pq.ParquetFile(path).read().to_pylist()
        ]
        return sorted(found, key=lambda row: row["feed_id"])

    def written(self, name: str) -> list[str]:
        """Return the bodies of those rows."""
        return [row["body"].decode() for row in self.files(name)]

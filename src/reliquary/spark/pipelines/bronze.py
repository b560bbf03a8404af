"""Writes bronze: unchanged messages and events, each batch once.

    queues   --readStream "reliquary"--> bronze/messages   a batch of the query is a batch of the table
    history  --files that are new------> bronze/history    a batch is files; its commit names them

A query numbers its batches in its checkpoint, which lies in the lake, and gives a batch that it does over
equal rows; so the number is the key.  A file of the history never changes once it is there; which files
were read is in the commits, so a file that comes late, for a day long past, is just a file that is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reliquary.spark.pipelines.tables import Commit, Table
from reliquary.wire.history import HISTORY_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

MESSAGES: Final = "bronze/messages"
HISTORY: Final = "bronze/history"
CHECKPOINT: Final = "_checkpoints/messages"
FILES_PER_BATCH: Final = 200
UNKNOWN_DAY: Final = "unknown"

CARRIED_IN: Final = "carried_in"
"""The column `batch` of the history, which in the lake is the batch of the table."""


def history_schema(*, kept: bool) -> str:
    """Return the columns of the exporter's files, or of the existing table."""
    names = {"batch": CARRIED_IN} if kept else {}
    return ", ".join(f"`{names.get(each.name, each.name)}` {each.kind.value}" for each in HISTORY_COLUMNS)


def day_of(moment: str) -> Column:
    """Return the day of a timestamp in UTC, in any zone of the session."""
    from pyspark.sql import functions as f

    day = f.date_from_unix_date((f.floor(f.unix_seconds(f.col(moment)) / 86_400)).cast("int"))
    return f.coalesce(day.cast("string"), f.lit(UNKNOWN_DAY))


# -- messages


def start_messages(table: Table, lake: Path, feed: DataFrame, every: float | None) -> StreamingQuery:
    """Start the query that copies messages into the lake: once, or endlessly at an interval."""
    from pyspark.sql import functions as f

    checkpoint = lake / CHECKPOINT

    def keep(frame: DataFrame, batch: int) -> None:
        day = f.coalesce(f.nullif(day_of("arrived"), f.lit(UNKNOWN_DAY)), day_of("sent"))
        table.append(batch, frame.withColumn("day", day), query_of(checkpoint))

    writer = feed.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint))
    writer = writer.queryName("lake-bronze-messages")
    if every is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{every} seconds").start()


def query_of(checkpoint: Path) -> str:
    """Return the id of the query that a checkpoint belongs to."""
    identifier: str = json.loads((checkpoint / "metadata").read_text())["id"]
    return identifier


# -- history


def take_history(spark: SparkSession, table: Table, folders: Sequence[Path]) -> list[Commit]:
    """Copy the new files into the lake, some at a time."""
    read = {name for batch in table.batches() for name in table.commit_of(batch).inputs}
    new = [name for name in history_files(folders) if name not in read]
    commits = []
    for start in range(0, len(new), FILES_PER_BATCH):
        names = new[start : start + FILES_PER_BATCH]
        frame = spark.read.schema(history_schema(kept=False)).parquet(*names)
        frame = frame.withColumnRenamed("batch", CARRIED_IN)
        commits.append(
            table.append(table.last() + 1, frame.withColumn("day", day_of("time")), "history", names)
        )
    return commits


def history_files(folders: Iterable[Path]) -> list[str]:
    """Return the complete files of the exporter, each folder in the order of its names."""
    return [
        str(path)
        for folder in folders
        for path in sorted(folder.absolute().glob("day=*/hour=*/*.parquet"))
        if not path.name.startswith((".", "_"))
    ]

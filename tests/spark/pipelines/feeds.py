"""Message rows and histories as files, for the lake's tests: what a server would have exported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.spark.pipelines.settings import LakeSettings
from reliquary.spark.schema import ARROW, COLUMNS
from reliquary.wire.history import HISTORY_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
MESSAGES = pa.schema([(column.name, ARROW[column.kind]) for column in COLUMNS])
HISTORY = pa.schema([(column.name, ARROW[column.kind]) for column in HISTORY_COLUMNS])


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def message(
    feed_id: int, body: bytes, *, queue: str = "orders", after: float = 0, **more: Any
) -> dict[str, Any]:
    arrived = at(after)
    return {
        "queue": queue,
        "feed_id": feed_id,
        "lookup_id": feed_id,
        "id": f"5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10\\{feed_id}",
        "arrived": arrived,
        "sent": arrived.replace(microsecond=0),
        "size": len(body) + 100,
        "body_size": len(body),
        "body": body,
        "priority": 3,
        **more,
    }


def event(number: int, name: str, message: int, seconds: float, **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "event_id": number,
        "event": name,
        "time": at(seconds),
        "manager": "m1",
        "queue": "orders",
        "queue_kind": "local",
        "message": message,
        **more,
    }


def write_messages(folder: Path, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    _write(folder / f"{name}.parquet", rows, MESSAGES)


def write_history(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write files as the exporter does: by the day and hour of the first event, named by first and last."""
    first, last = rows[0], rows[-1]
    place = folder / first["time"].strftime("day=%Y-%m-%d/hour=%H")
    _write(place / f"{first['event_id']}-{last['event_id']}.parquet", rows, HISTORY)


def _write(path: Path, rows: Iterable[Mapping[str, Any]], schema: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}")
    pq.write_table(pa.Table.from_pylist([*rows], schema=schema), draft)
    draft.rename(path)


def files_feed(folder: Path) -> Any:
    """Return a feed that reads the files of a folder, one a batch."""

    def feed(spark: SparkSession, _: LakeSettings) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        reader = spark.readStream.schema(from_arrow_schema(MESSAGES)).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(folder))

    return feed

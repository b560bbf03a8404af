"""Tests which files of a history are read, and whose query a checkpoint is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reliquary.spark.pipelines.bronze import day_of, history_files, history_schema, query_of
from tests.spark.pipelines.feeds import HISTORY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_whole_files_are_read_in_their_order(tmp_path: Path) -> None:
    names = ["day=2026-11-15/hour=09/1-5.parquet", "day=2026-11-15/hour=10/6-7.parquet"]
    for name in (*names, "day=2026-11-15/hour=10/.8-9.parquet", "day=2026-11-15/8.tmp", "other.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert history_files([tmp_path]) == [str(tmp_path / name) for name in names]
    assert history_files([tmp_path / "day=2026-11-15"]) == []


def test_a_checkpoint_names_its_query(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text('{"id":"abc"}')
    assert query_of(tmp_path) == "abc"


def test_the_batch_of_the_history_makes_room_for_that_of_the_table() -> None:
    assert [column.split("`")[1] for column in history_schema(kept=False).split(", ")] == HISTORY.names
    kept = history_schema(kept=True)
    assert "`carried_in` string" in kept
    assert "`batch`" not in kept


def test_a_day_is_one_of_utc_whatever_the_zone_of_the_session(spark: SparkSession) -> None:
    moments = ["1969-12-31T23:59:59Z", "2026-11-15T23:59:59.999999Z", "2026-11-16T00:00:00Z", None]
    frame = spark.createDataFrame([(each,) for each in moments], "text string")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        found = frame.selectExpr("cast(text as timestamp) as moment").select(day_of("moment")).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert [row[0] for row in found] == ["1969-12-31", "2026-11-15", "2026-11-16", "unknown"]

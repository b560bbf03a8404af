"""Traces: two sets of events merge into what both together give."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from reliquary.spark.pipelines.audit.traces import COLUMNS, SCHEMA, merged, traces
from reliquary.wire.history import HISTORY_NAMES
from tests.spark.pipelines.audit.world import FAULTS, World, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_traces_of_parts_merge_into_the_traces_of_the_whole(spark: SparkSession) -> None:
    rows = World(21, FAULTS, messages=20).rows()
    random.Random(2).shuffle(rows)
    one, two = (spark.createDataFrame(table(part)) for part in (rows[::2], rows[1::2]))
    together = merged(traces(one), traces(two)).toArrow().to_pylist()
    whole = traces(spark.createDataFrame(table(rows))).toArrow().to_pylist()

    def key(row: dict[str, int]) -> tuple[int, int]:
        return row["manager"], row["message"]

    assert sorted(together, key=key) == sorted(whole, key=key)
    assert len(whole) == len({(row["manager"], row["message"] or row["message_id"]) for row in rows})


def test_the_audit_reads_columns_that_the_history_has() -> None:
    names = [part.split()[0] for part in SCHEMA.split(", ")]
    assert set(names) <= set(HISTORY_NAMES)
    assert len(COLUMNS) == len(set(COLUMNS))

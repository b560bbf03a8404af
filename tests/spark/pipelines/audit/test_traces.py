"""Tests traces: two sets of events merge into what both together give, and files keep them."""

from __future__ import annotations

import random
from pathlib import Path

from reliquary.spark.pipelines.audit.arrays import Table
from reliquary.spark.pipelines.audit.traces import COLUMNS, STORED, merged, neutral, read, write
from tests.spark.pipelines.audit.test_events import stored, whole
from tests.spark.pipelines.audit.world import FAULTS, Row, World, table


def traced(rows: list[Row]) -> Table:
    return whole(stored(table(rows)))[0]


def test_traces_of_parts_merge_into_the_traces_of_the_whole() -> None:
    rows = World(21, FAULTS, messages=20).rows()
    random.Random(2).shuffle(rows)
    together = merged([traced(rows[::3]), traced(rows[1::3]), traced(rows[2::3])])
    assert together.rows() == traced(rows).rows()
    assert len(together) == len({(row["manager"], row["message"] or row["message_id"]) for row in rows})


def test_a_trace_merges_with_nothing_into_itself() -> None:
    whole = traced(World(22, messages=5).rows())
    nothing = Table(
        {name: whole[name] if name not in COLUMNS else whole[name] * 0 + neutral(name) for name in STORED}
    )
    assert merged([whole, nothing]).rows() == whole.rows()


def test_a_file_keeps_parts_and_gives_the_columns_that_are_asked_for(tmp_path: Path) -> None:
    parts = [traced(World(seed, messages=5).rows()) for seed in (23, 24)]
    write(tmp_path / "a.arrow", parts)
    assert [part.rows() for part in read(tmp_path / "a.arrow", (0, 1))] == [part.rows() for part in parts]
    (narrow,) = read(tmp_path / "a.arrow", (1,), ("message", "mask"))
    assert narrow.rows() == parts[1].only(("message", "mask")).rows()
    assert [path.name for path in tmp_path.iterdir()] == ["a.arrow"]

"""Many batches become one, and every reader finds each row once, whenever the process is killed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from reliquary.spark.pipelines import compaction, tables
from reliquary.spark.pipelines.compaction import clean, compact
from reliquary.spark.pipelines.tables import COMPACTED, STAGING, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = ("2026-11-15", "2026-11-16")
LATER = 1e12
"""A moment after every grace period."""
SPARK: Any = None


class Columns:
    """Stands for a schema of Spark."""

    def jsonValue(self) -> dict[str, Any]:  # noqa: N802
        return {"type": "struct", "fields": []}


class Frame:
    """Stands for a frame of Spark: rows of a number, a batch and a day."""

    schema = Columns()

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def coalesce(self, _: int) -> Frame:
        return self


def rows_of(table: Table, numbers: list[int] | None = None, days: list[str] | None = None) -> list[Any]:
    """Read a table by its parts, as `Table.read` does."""
    found = []
    for part in table.parts(table.batches() if numbers is None else numbers, days):
        for place in part.places:
            for file in place.rglob("*.parquet"):
                day = file.parent.name.removeprefix("day=")
                listed = re.search(r"batch=(\d+)", str(file))
                for row in pq.read_table(file, partitioning=None).to_pylist():
                    batch = int(listed[1]) if listed else row["batch"]
                    if part.only is None or batch in part.only:
                        found.append((batch, day, row["number"]))
    return sorted(found)


def listed_rows(folder: Path) -> list[int]:
    """Read the folders `batch=...` of a table, as a program does that knows nothing else."""
    files = folder.glob("batch=*/day=*/*.parquet")
    return sorted(
        row["number"] for file in files for row in pq.read_table(file, partitioning=None).to_pylist()
    )


class Arrow(Table):
    """A table that is read and written without Spark."""

    def read(self, spark: Any, schema: Any = None, batches: Any = None, days: Any = None) -> Any:
        keys = ("batch", "day", "number")
        rows = [dict(zip(keys, row, strict=True)) for row in rows_of(self, batches, days)]
        return Frame(rows) if rows else None

    def write(self, folder: Path, frame: Any, partition_by: tuple[str, ...] = ("day",)) -> int:
        for day in {row["day"] for row in frame.rows}:
            rows = [{key: row[key] for key in row if key != "day"} for row in frame.rows if row["day"] == day]
            (folder / f"day={day}").mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(rows), folder / f"day={day}" / "part.parquet")
        folder.mkdir(parents=True, exist_ok=True)
        return len(frame.rows)


def filled(folder: Path, batches: int = 4) -> Arrow:
    """Return a table with a row of each day in each batch, but for batch 2, which has none."""
    table = Arrow(folder)
    for batch in range(batches):
        days = DAYS if batch != 2 else ()
        rows = [{"number": batch * 10 + place, "day": day} for place, day in enumerate(days)]
        table.append(batch, Frame(rows), "q", [f"file {batch}"])  # type: ignore[arg-type]
    return table


def test_batches_are_one_for_readers_and_keep_their_numbers_days_and_commits(tmp_path: Path) -> None:
    table = filled(tmp_path)
    before = rows_of(table)
    commits = [table.commit_of(batch) for batch in range(4)]
    span = compact(SPARK, table, 3)
    assert span is not None
    assert (span.folder.name, span.last) == ("0-2", 2)
    for seen in (table, Arrow(tmp_path)):
        assert rows_of(seen) == before
        assert [seen.commit_of(batch) for batch in seen.batches()] == commits
        assert (seen.days(0), seen.days(2), seen.rows(), seen.last()) == ([*DAYS], [], 6, 3)
        assert seen.single_batches() == [3]
        assert [row[2] for row in rows_of(seen, [1, 3])] == [10, 11, 30, 31]
        assert [row[2] for row in rows_of(seen, days=[DAYS[1]])] == [1, 11, 31]
    assert compact(SPARK, table, 3) is None


def test_batches_stay_for_a_grace_period_and_then_go(tmp_path: Path) -> None:
    table = filled(tmp_path)
    before, numbers = rows_of(table), listed_rows(tmp_path)
    span = compact(SPARK, table, 3)
    assert span is not None
    old = [*tmp_path.glob("batch=1/day=*/*.parquet")]
    assert clean(table, 60, span.made + 59) == []
    assert all(file.exists() for file in old)
    assert listed_rows(tmp_path) == numbers
    assert clean(table, 60, span.made + 60) == [span]
    assert not any(file.exists() for file in old)
    assert sorted(path.name for path in tmp_path.glob("batch=*")) == ["batch=2", "batch=3"]
    assert listed_rows(tmp_path) == numbers
    assert rows_of(Arrow(tmp_path)) == before
    [file] = (tmp_path / "batch=2" / f"day={DAYS[0]}").glob("*.parquet")
    assert file.stat().st_nlink == 2, "it takes no room of its own"
    assert clean(table, 60, LATER) == []
    assert not [*(tmp_path / STAGING).iterdir()]


def test_a_batch_that_is_done_over_after_its_compaction_changes_nothing(tmp_path: Path) -> None:
    table = filled(tmp_path)
    compact(SPARK, table, 4)
    clean(table, 0, LATER)
    assert Arrow(tmp_path).append(3, Frame([]), "q").rows == 2  # type: ignore[arg-type]
    table.append(4, Frame([{"number": 40, "day": DAYS[0]}]), "q")  # type: ignore[arg-type]
    assert rows_of(table)[-1] == (4, DAYS[0], 40)


class Killed(BaseException):
    """The process ends here: nothing is cleaned up."""


def test_a_crash_at_any_step_leaves_each_row_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [0, -1]

    def tick() -> None:
        steps[0] += 1
        if steps[0] == steps[1]:
            raise Killed

    def mortal(usual: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **more: Any) -> Any:
            tick()
            done = usual(*arguments, **more)
            tick()
            return done

        return step

    monkeypatch.setattr(Path, "rename", mortal(Path.rename))
    monkeypatch.setattr(compaction, "write_synced", mortal(tables.write_synced))
    monkeypatch.setattr(os, "link", mortal(os.link))
    monkeypatch.setattr(shutil, "copyfile", mortal(shutil.copyfile))

    def work(folder: Path) -> None:
        table = Arrow(folder)
        compact(SPARK, table, 4)
        clean(table, 0, LATER)

    killed = 0
    while True:
        folder = tmp_path / str(killed)
        steps[1] = -1
        before, numbers = rows_of(filled(folder)), listed_rows(folder)
        steps[:] = [0, killed + 1]
        try:
            work(folder)
        except Killed:
            killed += 1
        else:
            break
        steps[1] = -1
        assert rows_of(Arrow(folder)) == before, f"after step {killed}"
        work(folder)
        assert rows_of(Arrow(folder)) == before, f"after step {killed} and another run"
        assert listed_rows(folder) == numbers
        assert [path.name for path in (folder / COMPACTED).iterdir()] == ["0-3"]
    assert killed > 20


def test_spark_reads_what_was_compacted_with_its_types(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(tmp_path / "t")
    for batch in range(3):
        frame = spark.sql(f"select {batch} n, parse_json('{{\"a\": {batch}}}') data, '{DAYS[batch % 2]}' day")
        table.append(batch, frame, "q")
    for work in (lambda: None, lambda: compact(spark, table, 2), lambda: clean(table, 0, LATER)):
        work()
        found = Table(tmp_path / "t").read(spark)
        assert found is not None
        rows = sorted((row["n"], row["batch"], row["day"], row["data"].toPython()) for row in found.collect())
        assert rows == [(batch, batch, DAYS[batch % 2], {"a": batch}) for batch in range(3)]
        some = Table(tmp_path / "t").read(spark, batches=[1, 2], days=[DAYS[1]])
        assert some is not None
        assert [row["n"] for row in some.collect()] == [1]
        listing = spark.read.parquet(str(tmp_path / "t"))
        assert sorted(row["n"] for row in listing.collect()) == [0, 1, 2]
    listing = spark.read.parquet(str(tmp_path / "t"))
    assert sorted(row["batch"] for row in listing.collect()) == [1, 1, 2]

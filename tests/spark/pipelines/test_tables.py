"""Batches are seen whole and once; small files are replaced at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.tables import COMMIT, Commit, Staged, Table, read_state, write_state


class Columns:
    """Stands for a schema of Spark, of which a commit only keeps the text."""

    def jsonValue(self) -> dict[str, Any]:  # noqa: N802
        return {"type": "struct", "fields": []}


class Written(Table):
    """A table whose batches are written without Spark."""

    def stage(self, batch: int, frame: Any, partition_by: tuple[str, ...] = ("day",)) -> Staged:
        folder = self.folder / "_staging" / f"batch={batch}"
        for day in frame:
            (folder / f"day={day}").mkdir(parents=True, exist_ok=True)
            (folder / f"day={day}" / "rows").write_text("x")
        folder.mkdir(parents=True, exist_ok=True)
        return Staged(batch, folder, len(frame), Columns())  # type: ignore[arg-type]


def days(*names: str) -> Any:
    return list(names)


def test_a_batch_is_there_after_its_commit_and_not_before(tmp_path: Path) -> None:
    table = Written(tmp_path / "t")
    assert (table.batches(), table.last(), table.rows()) == ([], -1, 0)
    staged = table.stage(0, days("2026-11-15", "2026-11-16"))
    assert table.batches() == []
    table.publish(staged, "q1", ["a", "b"])
    assert table.batches() == [0]
    assert table.commit_of(0) == Commit(0, "q1", 2, ("a", "b"))
    assert table.days(0) == ["2026-11-15", "2026-11-16"]


def test_a_batch_that_is_done_over_changes_nothing(tmp_path: Path) -> None:
    table = Written(tmp_path / "t")
    table.append(0, days("2026-11-15"), "q1")
    before = (table.place(0) / COMMIT).stat().st_mtime_ns
    assert table.append(0, days("2026-11-15", "2026-11-16"), "q1").rows == 1
    assert (table.place(0) / COMMIT).stat().st_mtime_ns == before
    with pytest.raises(UsageError, match="checkpoint is gone"):
        table.append(0, days("2026-11-15"), "q2")


def test_batches_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    table = Written(tmp_path / "t")
    for batch in (0, 2, 10, 9):
        table.append(batch, days("2026-11-15"), "q")
    assert table.batches() == [0, 2, 9, 10]
    assert table.last() == 10


def test_a_state_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.json"
    assert read_state(path) == {}
    write_state(path, {"a": 1})
    write_state(path, {"b": 2})
    assert read_state(path) == {"b": 2}
    assert [each.name for each in path.parent.iterdir()] == ["state.json"]

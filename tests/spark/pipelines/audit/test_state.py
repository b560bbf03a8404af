"""Increments: files in any order and any number of runs give what one run over all of them gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.state import State
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.world import FAULTS, HOUR, Row, World, split, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_runs_over_files_in_any_order_say_what_one_run_says_and_take_back_what_is_explained(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Four worlds in two runs.

    Of two of them any pieces come in any order, so the first run sees holes, and may say only what is true of
    what it has seen or of the whole.  Of the others each history comes from its beginning on: there the first
    run says exactly what the reference says.
    """
    from reliquary.spark.pipelines.audit.run import AuditConfig, run_audit

    by = random.Random(5)
    torn = [World(seed, FAULTS) for seed in (11, 12)]
    whole, explained = World(13, FAULTS), Explained(14)
    first, second = explained.parts()
    for world in torn:
        pieces = list(split(world.rows(), by, 6))
        first += [row for piece in pieces[::2] for row in piece]
        second += [row for piece in pieces[1::2] for row in piece]
    for manager in whole.managers:
        rows = manager.rows()
        cut = by.randrange(1, len(rows))
        first += rows[:cut]
        second += rows[cut:]
    config = AuditConfig([str(tmp_path / "history")], tmp_path / "out", in_order=frozenset({"ledger"}))
    runs = []
    for number, rows in enumerate((first, second)):
        by.shuffle(rows)
        write(tmp_path / "history", rows, files=3, name=f"run-{number}")
        assert run_audit(spark, config).new_files == 3
        table = pq.read_table(tmp_path / "out" / "findings").to_pylist()
        found = [(row["kind"], row["message_id"], row["manager"], row["queue"]) for row in table]
        assert len(found) == len(set(found))
        runs.append(set(found))
    expected = set().union(*(world.expected for world in (*torn, whole)))
    so_far = Reference(first, in_order="ledger").found
    holed = {manager.identifier for world in torn for manager in world.managers}
    assert {finding for finding in runs[0] if finding[2] not in holed} == {
        finding for finding in so_far if finding[2] not in holed
    }
    assert runs[0] <= so_far | expected
    assert explained.first_look <= runs[0]
    assert runs[1] == expected == Reference(first + second, in_order="ledger").found


class Explained(World):
    """Two messages look faulty until the rest of the history comes: one lost, one in doubt."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        alpha, beta, gamma = self.managers
        queue, strayed, at = self._queued(alpha, beta, self.end - 6 * HOUR, "strayed")
        alpha.tell(at + 9, "delivered", queue, strayed["message"], kind="outgoing")
        gamma.tell(at + 5, "arrived", "strayed", gamma.number(), message_id=strayed["message_id"])
        other, held, at = self._queued(alpha, beta, self.end - 5 * HOUR, "slow")
        alpha.tell(at + 1, "held", other, held["message"], kind="outgoing", batch="7")
        alpha.tell(self.end + 9, "rejected", other, held["message"], kind="outgoing")
        self.first_look = {
            ("lost", strayed["message_id"], alpha.identifier, queue),
            ("in-doubt", held["message_id"], alpha.identifier, other),
        }

    def parts(self) -> tuple[list[Row], list[Row]]:
        """What is there at first, and what comes late: the history of gamma, and the last events."""
        late = self.managers[2].identifier
        first = [row for row in self.rows() if row["manager"] != late and row["time"] <= self.end + 1]
        second = [row for row in self.rows() if row["manager"] == late or row["time"] > self.end + 1]
        return first, second


def test_a_state_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "current.json").write_text("{")
    with pytest.raises(UsageError, match="holds no state of an audit"):
        State(tmp_path)


def test_a_state_of_another_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "current.json").write_text('{"version": 9}')
    with pytest.raises(UsageError, match="another release wrote"):
        State(tmp_path)


def test_files_that_were_read_are_not_new(tmp_path: Path) -> None:
    (tmp_path / "current.json").write_text('{"run": 1, "files": ["a", "b"]}')
    assert State(tmp_path).new(["c", "b"]) == ["c"]

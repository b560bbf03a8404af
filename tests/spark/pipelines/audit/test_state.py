"""Increments: files in any order and any number of runs give what one run over all of them gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.state import State
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.world import FAULTS, World, split, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_run_says_what_one_run_over_all_files_so_far_would_say(
    spark: SparkSession, tmp_path: Path
) -> None:
    from reliquary.spark.pipelines.audit.run import AuditConfig, run_audit

    by = random.Random(5)
    worlds = [World(seed, FAULTS) for seed in (11, 12)]
    rows = [row for world in worlds for row in world.rows()]
    config = AuditConfig([str(tmp_path / "history")], tmp_path / "out", in_order=frozenset({"ledger"}))
    so_far = []
    runs = []
    pieces = list(split(rows, by, 6))
    for number, some in enumerate((pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :])):
        for place, piece in enumerate(some):
            write(tmp_path / "history", piece, name=f"{number}-{place}")
            so_far += piece
        report = run_audit(spark, config)
        table = spark.read.parquet(str(tmp_path / "out" / "findings")).collect()
        found = sorted((row["kind"], row["message_id"], row["manager"], row["queue"]) for row in table)
        assert report.new_files == len(some)
        runs.append(set(found))
        assert found == sorted(Reference(so_far, in_order="ledger").found) or number == 0
        assert set(found) <= Reference(so_far, in_order="ledger").found | _not_yet(worlds)
    assert runs[-1] == set().union(*(world.expected for world in worlds))


def _not_yet(worlds: list[World]) -> set[tuple[str, str, str, str]]:
    return set().union(*(world.expected for world in worlds))


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

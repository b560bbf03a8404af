"""Runs: bad input is refused with one sentence, and what cannot be judged is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.run import AuditConfig, audit, run_audit
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Reason, Verdict
from tests.spark.pipelines.audit.alone import Alone
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.world import BEGIN, World, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.pipelines.audit.conftest import Audited


def test_one_fault_refutes_all(audited: Audited) -> None:
    assert audited.report.verdict is Verdict.REFUTED
    assert audited.report.page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_folder_without_history_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no history in .*nowhere"):
        run_audit(spark, AuditConfig([str(tmp_path / "nowhere")], tmp_path / "out"))
    (tmp_path / "other").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other" / "a.parquet")
    with pytest.raises(UsageError, match="some files are no history"):
        run_audit(spark, AuditConfig([str(tmp_path / "other")], tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_without_the_history_of_a_destination_nothing_is_a_fault_and_nothing_proven(tmp_path: Path) -> None:
    world = World(3, ("lost", "lost", "acknowledged", "received twice"))
    silent = world.managers[2]
    rows = [row for row in world.rows() if row["manager"] != silent.identifier]
    write(tmp_path / "history", rows)
    report = audit(Alone(), AuditConfig([str(tmp_path / "history")], tmp_path / "out"))
    reference = Reference(rows)
    assert report.unjudged[Reason.NO_HISTORY] == reference.unjudged > 0
    assert report.found[FindingKind.LOST] == sum(1 for kind, *_ in reference.found if kind == "lost")
    open_ = [stream for stream in report.streams if stream.not_judged]
    assert {stream.verdict for stream in open_} == {Verdict.NOT_JUDGED}
    assert all(silent.name in stream.source.queue for stream in open_)


def order_of(
    tmp_path: Path, in_order: frozenset[str] = frozenset(), any_order: frozenset[str] = frozenset()
) -> int:
    world = World(6, ("overtaken in a queue",))
    write(tmp_path / "history", world.rows())
    config = AuditConfig(
        [str(tmp_path / "history")], tmp_path / "out", in_order=in_order, any_order=any_order
    )
    return audit(Alone(), config).found[FindingKind.REORDERED]


def test_the_order_in_a_transactional_queue_is_judged_unless_its_readers_choose(tmp_path: Path) -> None:
    assert order_of(tmp_path) == 1
    assert order_of(tmp_path, any_order=frozenset({"Ledger"})) == 0
    assert order_of(tmp_path, any_order=frozenset({"*"})) == 0


@pytest.mark.parametrize("option", ["in_order", "any_order"])
def test_a_queue_that_no_history_tells_of_is_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(UsageError, match=f"--{option.replace('_', '-')} nowhere: no history has"):
        order_of(tmp_path, **{option: frozenset({"nowhere"})})


def test_the_order_in_other_queues_is_judged_where_it_is_asked_for(tmp_path: Path) -> None:
    manager = World(7, messages=0).managers[0]
    for number in (11, 12):
        manager.tell(
            BEGIN + number, "accepted", "plain", number, message_id=f"{manager.identifier}\\{number}"
        )
    for number in (12, 11):
        manager.tell(BEGIN + 30 - number, "received", "plain", number)
    write(tmp_path / "history", manager.rows())
    for names, found in ((frozenset(), 0), (frozenset({"plain"}), 1)):
        config = AuditConfig([str(tmp_path / "history")], tmp_path / "out", in_order=names)
        assert audit(Alone(), config).found[FindingKind.REORDERED] == found

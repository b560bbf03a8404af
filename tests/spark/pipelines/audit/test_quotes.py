"""Tests of the lines of the history that a finding quotes."""

from __future__ import annotations

from pathlib import Path

from reliquary.spark.pipelines.audit.quotes import proofs
from reliquary.spark.pipelines.audit.run import AuditConfig, audit
from tests.spark.pipelines.audit.alone import Alone
from tests.spark.pipelines.audit.world import FAULTS, World, write


def test_every_finding_has_the_lines_of_its_events(tmp_path: Path) -> None:
    world = World(61, FAULTS)
    write(tmp_path / "history", world.rows(), files=3)
    report = audit(Alone(), AuditConfig([str(tmp_path / "history")], tmp_path / "out"))
    known = {(row["manager"], row["event_id"]): row for row in world.rows()}
    assert report.shown
    for finding in report.shown:
        for proof in proofs(finding):
            line = report.quoted[proof]
            assert (line["event"], line["message"]) == (known[proof]["event"], known[proof]["message"])


def test_a_file_that_is_gone_is_not_opened(tmp_path: Path) -> None:
    world = World(62, ("lost",))
    rows = world.rows()
    first, second = (
        write(tmp_path / "history", part, name=name) for name, part in (("a", rows[:60]), ("b", rows[60:]))
    )
    config = AuditConfig([str(tmp_path / "history")], tmp_path / "out")
    whole = audit(Alone(), config)
    first[0].unlink()
    again = audit(Alone(), config)
    assert again.found == whole.found
    assert set(again.quoted) <= set(whole.quoted)
    assert second[0].exists()

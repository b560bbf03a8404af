"""Tests increments: files in any order and any number of runs give what one run over all of them gives."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit import buckets
from reliquary.spark.pipelines.audit.rules import Limits
from reliquary.spark.pipelines.audit.run import AuditConfig, audit
from reliquary.spark.pipelines.audit.state import State
from reliquary.spark.pipelines.audit.verdicts import FindingKind
from tests.spark.pipelines.audit.alone import Alone
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.world import FAULTS, HOUR, Row, World, split, write


def test_runs_over_files_in_any_order_say_what_one_run_says_and_take_back_what_is_explained(
    tmp_path: Path,
) -> None:
    """Four worlds in two runs.

    Of two of them any pieces come in any order, so the first run sees holes, and may say only what is true of
    what it has seen or of the whole.  Of the others each history comes from its beginning on: there the first
    run says exactly what the reference says.
    """
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
    config = AuditConfig([str(tmp_path / "history")], tmp_path / "out")
    runs = []
    for number, rows in enumerate((first, second)):
        by.shuffle(rows)
        write(tmp_path / "history", rows, files=3, name=f"run-{number}")
        assert audit(Alone(), config).new_files == 3
        table = pq.read_table(tmp_path / "out" / "findings").to_pylist()
        found = [(row["kind"], row["message_id"], row["manager"], row["queue"]) for row in table]
        assert len(found) == len(set(found))
        runs.append(set(found))
    expected = set().union(*(world.expected for world in (*torn, whole)))
    so_far = Reference(first).found
    holed = {manager.identifier for world in torn for manager in world.managers}
    assert {finding for finding in runs[0] if finding[2] not in holed} == {
        finding for finding in so_far if finding[2] not in holed
    }
    assert runs[0] <= so_far | expected
    assert explained.first_look <= runs[0]
    assert runs[1] == expected == Reference(first + second).found


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
        """Return what is there at first, and what comes late: gamma's history, and the last events."""
        late = self.managers[2].identifier
        first = [row for row in self.rows() if row["manager"] != late and row["time"] <= self.end + 1]
        second = [row for row in self.rows() if row["manager"] == late or row["time"] > self.end + 1]
        return first, second


def test_a_malformed_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "current.json").write_text("{")
    with pytest.raises(UsageError, match="holds no state of an audit"):
        State(tmp_path)


def test_a_state_of_another_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "current.json").write_text('{"version": 9}')
    with pytest.raises(UsageError, match="another release wrote"):
        State(tmp_path)


def test_files_that_were_read_are_not_new(tmp_path: Path) -> None:
    (tmp_path / "current.json").write_text('{"version": 2, "files": [{"name": "a"}, {"name": "b"}]}')
    assert State(tmp_path).new(["c", "b"]) == ["c"]


# -- every split of the files


def result(out: Path) -> dict[str, Any]:
    """Return all that a run leaves for people, in an order of its own."""
    findings = pq.read_table(out / "findings").to_pylist()
    streams = pq.read_table(out / "streams").to_pylist()
    return {
        "findings": sorted(map(repr, findings)),
        "streams": sorted(map(repr, streams)),
        "page": (out / "report.html").read_text(encoding="utf-8"),
    }


def audited(folder: Path, runs: list[list[list[Row]]]) -> dict[str, Any]:
    """Return the report after these runs, each over some more files."""
    config = AuditConfig([str(folder / "history")], folder / "out")
    for number, files in enumerate(runs):
        for place, rows in enumerate(files):
            write(folder / "history", rows, name=f"{number}-{place}")
        audit(Alone(), config)
    return result(folder / "out")


def check_split(data: st.DataObject, messages: int) -> None:
    """Draw a world, cut its histories into files and these into runs, and compare with one run over all."""
    seed = data.draw(st.integers(0, 1000), label="seed")
    rows = World(seed, FAULTS, messages=messages).rows()
    order = data.draw(st.permutations(range(6)), label="order of files")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), min_size=5, max_size=5), label="cuts"))
    mixed = data.draw(st.booleans(), label="mixed")
    if mixed:
        random.Random(seed).shuffle(rows)
    pieces = [rows[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    files = [pieces[place] for place in order if pieces[place]]
    ends = sorted(data.draw(st.sets(st.integers(1, len(files)), max_size=3), label="runs") | {len(files)})
    runs = [files[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    with TemporaryDirectory() as one, TemporaryDirectory() as many:
        assert audited(Path(many), runs) == audited(Path(one), [[rows]])


@pytest.fixture
def small_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight messages a bucket, so that lines and identifiers meet in many of them."""
    monkeypatch.setattr(buckets, "BITS", 3)


@given(st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_split_of_the_files_gives_the_report_of_one_run(
    small_buckets: None, data: st.DataObject
) -> None:
    check_split(data, messages=12)


@pytest.mark.long
@pytest.mark.timeout(1800)
@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_split_of_more_files_gives_the_report_of_one_run(
    small_buckets: None, data: st.DataObject
) -> None:
    check_split(data, messages=60)


def test_other_limits_are_applied_to_all_that_was_read(tmp_path: Path) -> None:
    world = World(4, ("slow in a queue", "slow on the way"))
    write(tmp_path / "history", world.rows())
    history = [str(tmp_path / "history")]
    first = audit(Alone(), AuditConfig(history, tmp_path / "out"))
    assert first.found[FindingKind.LATE] == 2
    second = audit(Alone(), AuditConfig(history, tmp_path / "out", Limits(late=3 * HOUR)))
    assert (second.new_files, second.found[FindingKind.LATE]) == (0, 0)


def test_files_of_the_state_that_are_no_longer_valid_are_removed(tmp_path: Path) -> None:
    rows = World(5).rows()
    for number, part in enumerate((rows[:200], rows[200:])):
        write(tmp_path / "history", part, name=str(number))
        audit(Alone(), AuditConfig([str(tmp_path / "history")], tmp_path / "out"))
    state = State(tmp_path / "out" / "state")
    valid = {path for trail in state.kept.trails.values() for path in (trail.path, trail.result)}
    assert {str(path) for path in Path(state.files).iterdir()} == valid | {*state.kept.meetings.values()}

"""Tests that each event is in exactly one file, also if the process is killed at any step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Instant
from reliquary.queueing.history.events import ForgetHistory, ResumeHistory
from reliquary.store.history import folder as places
from reliquary.store.history.export import ExportedManager, export, last_in
from reliquary.store.history.files import FileWriter
from reliquary.store.history.folder import clear_unfinished, files_in
from tests.queueing.history.chronicle import events_of
from tests.queueing.manager_harness import Bench


class Killed(BaseException):
    """Says that the process ends here without a cleanup."""


class KilledAtStep:
    """Kills the process before or after a step, counted from the first one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        self.steps: list[str] = []
        for owner, name in ((places, "sync"), (Path, "rename"), (pq.ParquetWriter, "write_table")):
            monkeypatch.setattr(owner, name, self._watched(name, getattr(owner, name)))
        monkeypatch.setattr(FileWriter, "give_up", lambda _: None)

    def _watched(self, name: str, usual: Callable[..., object]) -> Callable[..., object]:
        def step(*arguments: object, **more: object) -> object:
            self.at(f"before {name}")
            done = usual(*arguments, **more)
            self.at(f"after {name}")
            return done

        return step

    def at(self, where: str) -> None:
        """Record a step, and raise Killed when the count of allowed steps is used up."""
        self.steps.append(where)
        self.left -= 1
        if self.left == 0:
            raise Killed(where)


def whose(bench: Bench) -> ExportedManager:
    return ExportedManager(bench.state.identity().identifier, "BENCH")


def run_export(
    bench: Bench, folder: Path, mortal: KilledAtStep, *, file_events: int, piece_events: int
) -> None:
    """Export as the task does: skip what is in files, and delete rows after their file is synced."""
    history = bench.state.history
    assert history is not None
    after = max(last_in(folder, whose(bench).manager), history.exported)
    many = {"file_events": file_events, "piece_events": piece_events}
    for file in export(bench.disk, folder, whose(bench), after, history.last, **many):
        mortal.at("before forget")
        bench.handle(ForgetHistory(file.last))
        mortal.at("before flush")
        bench.flush()


def begin_anew(bench: Bench, folder: Path) -> None:
    bench.restart(crash=True, start=False)
    clear_unfinished(folder)
    bench.handle(ResumeHistory(last_in(folder, whose(bench).manager)))
    bench.start()
    bench.flush()


def in_files(folder: Path) -> list[dict[str, object]]:
    tables = [pq.read_table(file.path, partitioning=None) for file in files_in(folder)]
    return [
        {name: value for name, value in event.items() if value is not None}
        for table in tables
        for event in table.to_pylist()
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from([1, 1800, 3600])), min_size=1, max_size=5),
    st.lists(st.integers(1, 30), max_size=4),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_every_event_is_in_one_file_wherever_the_process_is_killed(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[int, int]],
    kills: list[int],
    file_events: int,
    piece_events: int,
) -> None:
    folder = tmp_path_factory.mktemp("history")
    bench = Bench(history=True)
    bench.flush()
    reported: list[dict[str, object]] = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        mortal = KilledAtStep(monkeypatch)
        sizes = {"file_events": file_events, "piece_events": piece_events}
        for place, (count, span) in enumerate(batches):
            bench.now = Instant(bench.now + span * SECOND)
            bench.send("orders", *[b"x"] * count)
            bench.flush()
            reported += events_of(bench.disk)[-count:]
            mortal.left = kills[place] if place < len(kills) else -1
            try:
                run_export(bench, folder, mortal, **sizes)
            except Killed:
                begin_anew(bench, folder)
        mortal.left = -1
        run_export(bench, folder, mortal, **sizes)
    assert in_files(folder) == reported
    assert events_of(bench.disk) == []


def test_the_kills_reach_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that kills reach every step, so that the property above covers all of them."""
    mortal = KilledAtStep(monkeypatch)
    bench = Bench(history=True)
    bench.send("orders", b"x")
    bench.flush()
    run_export(bench, tmp_path, mortal, file_events=9, piece_events=9)
    assert mortal.steps == [
        "before write_table", "after write_table", "before sync", "after sync", "before rename",
        "after rename", *["before sync", "after sync"] * 3, "before forget", "before flush",
    ]  # fmt: skip


def test_a_folder_of_another_manager_is_refused_by_name(tmp_path: Path) -> None:
    bench = Bench(history=True)
    bench.send("orders", b"x")
    bench.flush()
    [file] = export(bench.disk, tmp_path, whose(bench), 0, 1)
    assert last_in(tmp_path, whose(bench).manager) == file.last == 1
    for other in (UUID(int=9), None):
        with pytest.raises(UsageError, match=f"holds the history of manager {whose(bench).manager}"):
            last_in(tmp_path, other)


def test_only_what_is_asked_for_is_exported(tmp_path: Path) -> None:
    bench = Bench(history=True)
    for count in (3, 3):
        bench.send("orders", *[b"x"] * count)
        bench.flush()
    [file] = export(bench.disk, tmp_path, whose(bench), 1, 5)
    assert (file.first, file.last) == (2, 5)
    assert [event["event_id"] for event in in_files(tmp_path)] == [2, 3, 4, 5]
    assert list(export(bench.disk, tmp_path, whose(bench), 6, 6)) == []

"""Tests that files with every event once are sound, and that every error in them is found."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from reliquary.base.faults import UsageError
from reliquary.store.history.columns import PACKED
from reliquary.store.history.files import FileWriter
from reliquary.store.history.verify import MOST_FINDINGS, verify_history

MANAGER = UUID(int=7)
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def write(folder: Path, *numbers: int, manager: UUID = MANAGER, event: str = "accepted") -> Path:
    """Write one file of events with these numbers, as the exporter does."""
    count = len(numbers)
    columns = {
        "event_id": pa.array(numbers, pa.int64()),
        "time": pa.array([NOON] * count, pa.timestamp("us", tz="UTC")),
        "event": pa.array([event] * count),
        "message": pa.array([5] * count, pa.int64()),
    }
    table = pa.table(
        [columns[field.name].cast(field.type) if field.name in columns else pa.nulls(count, field.type)
         for field in PACKED],
        schema=PACKED,
    )  # fmt: skip
    writer = FileWriter(folder, manager)
    [file] = [*writer.add(table), *writer.end()]
    return file.path


def found(folder: Path) -> list[tuple[str, int, int]]:
    return [(each.kind, each.first, each.last) for each in verify_history(folder).findings]


def test_files_that_follow_each_other_are_sound_wherever_they_begin(tmp_path: Path) -> None:
    write(tmp_path, 11, 12, 13)
    write(tmp_path, 14)
    report = verify_history(tmp_path)
    assert report.is_sound
    assert (report.manager, report.files, report.events) == (str(MANAGER), 2, 4)
    assert (report.first, report.last, report.missing, report.doubled) == (11, 14, 0, 0)


def test_events_between_two_files_are_missed(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    write(tmp_path, 6, 7)
    assert found(tmp_path) == [("gap", 3, 5)]
    assert verify_history(tmp_path).missing == 3


def test_events_inside_a_file_are_missed_and_doubled(tmp_path: Path) -> None:
    write(tmp_path, 1, 2, 5, 5, 6)
    assert found(tmp_path) == [("gap", 3, 4), ("doubled", 5, 5)]


def test_events_of_two_files_are_doubled(tmp_path: Path) -> None:
    write(tmp_path, 1, 2, 3)
    write(tmp_path, 2, 3, 4)
    assert found(tmp_path) == [("doubled", 2, 3)]
    assert verify_history(tmp_path).doubled == 2


def test_a_file_that_has_other_events_than_its_name_says_is_found(tmp_path: Path) -> None:
    path = write(tmp_path, 1, 2)
    path.rename(path.with_name(f"{1:020}-{3:020}.parquet"))
    write(tmp_path, 4)
    assert found(tmp_path) == [("misnamed", 1, 3), ("gap", 3, 3)]


def test_a_file_that_cannot_be_read_is_one_finding(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    write(tmp_path, 3, 4).write_bytes(b"cut")
    write(tmp_path, 5)
    assert found(tmp_path) == [("unreadable", 3, 4)]


def test_a_file_of_another_manager_is_found(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    write(tmp_path, 3, manager=UUID(int=8))
    assert found(tmp_path) == [("other-manager", 3, 3)]


def test_what_the_manager_left_out_is_counted_and_no_fault(tmp_path: Path) -> None:
    write(tmp_path, 1, event="gap")
    report = verify_history(tmp_path)
    assert (report.left_out, report.is_sound) == (5, True)


def test_findings_are_listed_up_to_a_limit_and_then_counted(tmp_path: Path) -> None:
    write(tmp_path, *range(1, 2 * (MOST_FINDINGS + 5), 2))
    report = verify_history(tmp_path)
    assert (len(report.findings), report.more_findings) == (MOST_FINDINGS, 4)


def test_a_folder_without_a_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no files of a history"):
        verify_history(tmp_path)

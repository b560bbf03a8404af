"""Tests the files of the log of acts: lines on disk, files by day and size, old ones gone, pages from the
end.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.client.records import ActInfo
from reliquary.console import acts_file as module
from reliquary.console.acts_file import ActsFile, KeptActs, files_in, path_of, read_acts
from reliquary.views.pages import PageWanted

START = datetime(2026, 11, 18, 12, tzinfo=UTC)


class Calendar:
    """A day that a test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def act(number: int, who: str = "alice") -> ActInfo:
    return ActInfo(
        time=START.isoformat(), who=who, act=f"act-{number % 2}", object=str(number), outcome="done"
    )


def objects(folder: Path, wanted: PageWanted | None = None, **only: str) -> list[str]:
    return [each.object for each in read_acts(folder, wanted or PageWanted(), **only).records]


def written(folder: Path, *numbers: int, kept: KeptActs = KeptActs()) -> None:  # noqa: B008 - a tuple
    """Run a server that notes acts once; the files have the times of the calendar."""
    file = ActsFile(folder, kept, Calendar())
    for number in numbers:
        file.append(act(number))
    file.close()
    for _, each in files_in(folder):
        os.utime(each, (START.timestamp(), START.timestamp()))


def test_acts_are_listed_from_the_latest_on_over_restarts(tmp_path: Path) -> None:
    folder = tmp_path / "acts"
    assert objects(folder) == []
    written(folder, 1, 2)
    written(folder, 3)
    assert objects(folder) == ["3", "2", "1"]
    assert [number for number, _ in files_in(folder)] == [1]
    assert path_of(folder, 1).stat().st_mode & 0o077 == 0


def test_pages_follow_each_other_over_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 250)
    written(tmp_path, *range(7))
    assert len(files_in(tmp_path)) > 2
    found, after = [], ""
    while True:
        page = read_acts(tmp_path, PageWanted(after, 2))
        found += [each.object for each in page.records]
        after = page.next
        if not after:
            break
    assert found == ["6", "5", "4", "3", "2", "1", "0"]


def test_acts_of_others_are_left_out(tmp_path: Path) -> None:
    written(tmp_path, 1, 2, 3)
    ActsFile(tmp_path, KeptActs(), Calendar()).append(act(4, "Bob"))
    assert objects(tmp_path, who="bob") == ["4"]
    assert objects(tmp_path, who="alice", act="act-1") == ["3", "1"]
    assert read_acts(tmp_path, PageWanted("", 1), act="act-0").next != ""
    assert read_acts(tmp_path, PageWanted("", 1), who="bob").next == ""


def test_a_line_that_a_crash_cut_is_passed_over_and_hides_no_other(tmp_path: Path) -> None:
    written(tmp_path, 1)
    file = path_of(tmp_path, 1)
    file.write_bytes(file.read_bytes() + b'{"time":"2026-')
    os.utime(file, (START.timestamp(), START.timestamp()))
    written(tmp_path, 2)
    assert objects(tmp_path) == ["2", "1"]


def test_each_day_has_a_file_and_old_ones_go(tmp_path: Path) -> None:
    calendar = Calendar()
    file = ActsFile(tmp_path, KeptActs(days=2), calendar)
    for day in range(4):
        calendar.now = START + timedelta(days=day)
        file.append(act(day))
        os.utime(path_of(tmp_path, day + 1), (calendar.now.timestamp(), calendar.now.timestamp()))
    assert objects(tmp_path) == ["3", "2", "1"]
    file.close()


def test_the_oldest_files_go_when_all_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 1)
    written(tmp_path, *range(6), kept=KeptActs(bytes=250))
    assert objects(tmp_path) == ["5", "4", "3"]


def test_a_malformed_position_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="after is what the page before it gave as next"):
        read_acts(tmp_path, PageWanted("../x", 1))

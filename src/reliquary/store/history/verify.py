"""Checks that exported files have every event once: compares the names of the files with the numbers in them.

    00000000000000000001-00000000000000000417.parquet    1 ... 417     the numbers in it are those of its name
    00000000000000000418-00000000000000000900.parquet    418 ... 900   and begin behind the file before
    00000000000000000911-...                             911 ...       gap: 901 to 910 are in no file

The first file may begin anywhere, because the oldest files go.  A row group is in memory at a time, of three
columns.  Events of the kind `gap` are no fault of the files: the manager records in them which events it did
not write.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.store.history.files import owner_of
from reliquary.store.history.folder import HistoryFile, files_in
from reliquary.wire.history import HistoryEvent

MOST_FINDINGS: Final = 1000
_COLUMNS: Final = ["event_id", "event", "message"]
_UNREADABLE: Final = (OSError, pa.ArrowException, ValueError, KeyError)


class Finding(msgspec.Struct, frozen=True):
    """An error that was found in the files."""

    kind: str
    """gap, doubled, misnamed, unreadable or other-manager."""
    first: int
    """The first event with the error."""
    last: int
    file: str
    """The file with the error."""
    why: str


class HistoryReport(msgspec.Struct):
    """The result of a check: files, events and gaps of a folder."""

    folder: str
    manager: str = ""
    files: int = 0
    events: int = 0
    first: int = 0
    last: int = 0
    left_out: int = 0
    """The number of events that the manager did not write, from its own records of the kind `gap`."""
    missing: int = 0
    doubled: int = 0
    findings: list[Finding] = msgspec.field(default_factory=list)
    more_findings: int = 0
    """The number of findings that are not listed."""

    @property
    def is_sound(self) -> bool:
        """Return whether every event occurs exactly once."""
        return not self.findings

    def find(self, kind: str, first: int, last: int, file: HistoryFile, why: str) -> None:
        """Record an error that was found."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(Finding(kind, first, last, str(file.path), why))
        else:
            self.more_findings += 1


def verify_history(folder: Path) -> HistoryReport:
    """Read the numbers of all events of a folder, and report those that are missing or occur twice."""
    files = files_in(folder)
    if not files:
        raise UsageError(f"{folder} holds no files of a history")
    report = HistoryReport(str(folder), files=len(files), first=files[0].first, last=files[0].first - 1)
    for file in files:
        _verify_file(file, report)
    return report


def _verify_file(file: HistoryFile, report: HistoryReport) -> None:
    try:
        owner = owner_of(file)
        runs = [*_runs(file, report)]
    except _UNREADABLE as why:
        report.find("unreadable", file.first, file.last, file, f"it cannot be read: {why}")
        report.last = max(
            report.last, file.last
        )  # its events are unreadable, but they are not missing between files
        return
    report.manager = report.manager or owner
    if owner != report.manager:
        report.find("other-manager", file.first, file.last, file, f"it is of manager {owner}")
        return
    if not runs or (runs[0][0], runs[-1][1]) != (file.first, file.last):
        has = f"{runs[0][0]} to {runs[-1][1]}" if runs else "none"
        report.find("misnamed", file.first, file.last, file, f"it has the events {has}")
    for first, last in runs:
        _take(first, last, file, report)


def _take(first: int, last: int, file: HistoryFile, report: HistoryReport) -> None:
    """Compare consecutive numbers with those that were read before."""
    report.events += last - first + 1
    if first > report.last + 1:
        report.missing += first - report.last - 1
        report.find("gap", report.last + 1, first - 1, file, "these events are in no file before it")
    elif first <= report.last:
        end = min(last, report.last)
        report.doubled += end - first + 1
        report.find("doubled", first, end, file, "these events came before")
    report.last = max(report.last, last)


def _runs(file: HistoryFile, report: HistoryReport) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each run of consecutive numbers in a file."""
    run: tuple[int, int] | None = None
    reader = pq.ParquetFile(file.path)
    for group in range(reader.num_row_groups):
        table = reader.read_row_group(group, columns=_COLUMNS)
        said = table.filter(pc.equal(table.column("event"), HistoryEvent.GAP.word)).column("message")
        report.left_out += pc.sum(said).as_py() or 0
        for first, last in _steps(table.column("event_id").combine_chunks()):
            if run is not None and first == run[1] + 1:
                run = (run[0], last)
            else:
                if run is not None:
                    yield run
                run = (first, last)
    if run is not None:
        yield run


def _steps(numbers: pa.Array) -> Iterator[tuple[int, int]]:
    if not len(numbers):
        return
    steps = pc.subtract(numbers.slice(1), numbers.slice(0, len(numbers) - 1))
    begin = 0
    for place in pc.indices_nonzero(pc.not_equal(steps, 1)).to_pylist():
        yield numbers[begin].as_py(), numbers[place].as_py()
        begin = place + 1
    yield numbers[begin].as_py(), numbers[-1].as_py()

"""Checks that the logs still contain all synced changes, without a gap.

`judge` compares the mark with the logs and changes nothing:

    a log that the mark names is missing, empty or another one ------------------> Damaged
    the numbers have a gap, or end, before what was synced ----------------------> Damaged
    the numbers have a gap behind what was synced: a power cut left it ----------> CutOff
    else ------------------------------------------------------------------------> Whole

Logs below `lowest` are obsolete: their changes are in sorted files, and RocksDB may have deleted any of
them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from reliquary.store.files import sync_file, sync_folder
from reliquary.store.logs import Log
from reliquary.store.mark import Mark


class Whole(NamedTuple):
    """All synced changes are in the logs."""


class Damaged(NamedTuple):
    """A synced change is missing in the logs."""

    why: str


class CutOff(NamedTuple):
    """The logs after a gap: their changes were never synced, and RocksDB would not notice the gap."""

    last: Log
    """The log before the gap."""
    later: tuple[Path, ...]
    """The logs that were written after that log."""


Verdict = Whole | Damaged | CutOff


def judge(logs: Sequence[Log], mark: Mark | None, lowest: int = 0) -> Verdict:
    """Compare the logs from `lowest` on with the mark; a store of an older release may have no mark."""
    needed = [log for log in logs if log.number >= lowest]
    missing = _missing(needed, mark, lowest) if mark is not None else ""
    if missing:
        return Damaged(missing)
    synced = 0 if mark is None else mark.synced
    before: Log | None = None
    for place, log in enumerate(needed):
        if not log.first:
            continue
        if before is not None and (before.has_gap or log.first != before.last + 1):
            return _gap(before, needed[place:], synced, mark)
        before = log
    if before is not None and (before.has_gap or before.last < synced):
        return _gap(before, (), synced, mark)
    return Whole()


def _missing(needed: Sequence[Log], mark: Mark, lowest: int) -> str:
    there = {log.number: log for log in needed}
    for number, first in mark.logs:
        log = there.get(number)
        if number < lowest:
            continue
        if log is None:
            return f"its log {number:06}.log is missing"
        if log.first != first:
            found = f"begins with change {log.first}" if log.first else "holds no change"
            return f"its log {log.path.name} {found}, and was written from change {first} on"
    return ""


def _gap(before: Log, later: Sequence[Log], synced: int, mark: Mark | None) -> Verdict:
    if before.last < synced:
        follows = f", and the next is {later[0].first}" if later else ""
        return Damaged(
            f"its logs end at change {before.last}{follows}, but {synced} changes had reached the disk"
        )
    if mark is None:  # it is not known how far the logs were synced: a gap may be damage
        return Damaged(f"its logs have a gap behind change {before.last} in {before.path.name}")
    return CutOff(before, tuple(log.path for log in later))


def cut_off(gap: CutOff) -> None:
    """Cut the logs at the gap; a crash in the middle leaves a shorter chain with the gap where it was."""
    for path in reversed(gap.later):
        path.unlink()
    sync_folder(gap.last.path.parent)
    if gap.last.has_gap:
        os.truncate(gap.last.path, gap.last.end)
        sync_file(gap.last.path)

"""Verifies a store: reads every row once and checks its checksums.

Two checksums lie over each other: the engine's, over its blocks, and ours, over one row with its key
(`base/rows.py`).  Reading through the engine checks the first, `unframe` the second.  The
meaning of a record is not needed for that, so a store of any tables can be verified, also one that is in use.

A store of a queue manager also has counters.  They are compared with the rows of one moment, which finds
rows that are missing altogether.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import unframe
from reliquary.queueing.model.counting import TABLES_THAT_COUNT, counter_faults
from reliquary.queueing.model.tables import COUNTERS, queue_key
from reliquary.store.disk import Disk
from reliquary.store.staging import StagedRows

LISTED: Final = 100  # this number of damages is listed; the others are counted
_PAGE: Final = 32  # rows at once: a row may hold a message of megabytes
_BEHIND_EVERY_KEY: Final = b"\xff" * 256


@dataclass(frozen=True, slots=True)
class Damage:
    """A row or block that differs from what was written."""

    table: str
    key: str
    """The row in hex; where a block cannot be read, the first row that could not be reached."""
    why: str


@dataclass(slots=True)
class Report:
    """The result of a verification: rows read and damages found."""

    rows: dict[str, int] = field(default_factory=dict)
    """The number of rows by table, with the damaged rows that could be read."""
    damages: list[Damage] = field(default_factory=list)
    """The first damages that were found; there may be more."""
    damaged: int = 0
    """The total number of damages."""

    @property
    def is_sound(self) -> bool:
        """Return whether no damage was found."""
        return self.damaged == 0

    def add(self, damage: Damage) -> None:
        """Count a damage, and list it while the list has room."""
        self.damaged += 1
        if len(self.damages) < LISTED:
            self.damages.append(damage)


def verify(disk: Disk, tables: Iterable[str]) -> Report:
    """Read all rows of these tables and check them."""
    report = Report()
    for table in tables:
        report.rows[table] = 0
        _verify_table(disk, table, report)
    if report.rows.keys() >= TABLES_THAT_COUNT:
        _verify_counters(disk, report)
    return report


def _verify_counters(disk: Disk, report: Report) -> None:
    try:
        for fault in counter_faults(StagedRows(disk.frozen())):
            report.add(Damage(COUNTERS.name, queue_key(fault.queue).hex(), fault.why))
    except StoreDamage as why:  # it is in the list already, unless it came later
        if report.is_sound:
            report.add(Damage(COUNTERS.name, "", str(why)))


def _verify_table(disk: Disk, table: str, report: Report) -> None:
    behind = b""
    try:
        for key, value in _rows(disk, table):
            report.rows[table] += 1
            behind = key + b"\0"
            _verify_row(table, key, value, report)
    except StoreDamage as why:  # a corrupted block hides the beginning of the next one
        report.add(Damage(table, behind.hex(), str(why)))


def _verify_row(table: str, key: bytes, value: bytes, report: Report) -> None:
    try:
        unframe(table, key, value)
    except StoreDamage as why:
        report.add(Damage(table, key.hex(), str(why)))


def _rows(disk: Disk, table: str) -> Iterator[tuple[bytes, bytes]]:
    first = b""
    while page := disk.range(table, first, _BEHIND_EVERY_KEY, limit=_PAGE):
        yield from page
        first = page[-1][0] + b"\0"

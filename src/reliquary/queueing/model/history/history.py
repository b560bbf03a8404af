"""Keeps the state of the history in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.queueing.model.history.notes import Notes
from reliquary.queueing.model.history.records import HistoryMark


@dataclass(frozen=True, slots=True)
class Room:
    """The largest number of events and of bytes that may wait for their export."""

    events: int = 20_000_000
    bytes: int = 2 * 1024**3


@dataclass(slots=True)
class History:
    """The history of this process: its notes, and the progress of its export."""

    room: Room = field(default_factory=Room)
    notes: Notes = field(default_factory=Notes)
    last: int = 0
    """The number of the last event that has a row."""
    total: int = 0
    """The bytes of all rows that were ever written."""
    exported: int = 0
    exported_total: int = 0
    missing: int = 0
    gap: bool = False
    """Events are missing: `missing` of them, or an unknown number where `missing` is 0."""
    marked: HistoryMark | None = None
    """The mark that is on disk."""

    @property
    def pending(self) -> int:
        """Return the number of events that are in no file yet."""
        return self.last - self.exported

    @property
    def pending_bytes(self) -> int:
        """Return the size in bytes of the events that are in no file yet."""
        return self.total - self.exported_total

    @property
    def is_full(self) -> bool:
        """Return whether no more events may wait."""
        return self._exceeds(1)

    @property
    def has_room(self) -> bool:
        """Return whether a history that stopped may continue, because little enough waits."""
        return not self._exceeds(2)

    def _exceeds(self, part: int) -> bool:
        room = self.room
        return (
            self.last - self.exported >= room.events // part
            or self.total - self.exported_total >= room.bytes // part
        )

    def mark(self) -> HistoryMark:
        """Return the mark that is stored beside the rows."""
        last = self.last if self.last == self.exported else 0
        return HistoryMark(self.exported, self.exported_total, last, self.missing, self.gap)

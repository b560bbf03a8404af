"""What the manager knows of its history while the history is kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.queueing.model.history.notes import Notes
from reliquary.queueing.model.history.records import HistoryMark


@dataclass(frozen=True, slots=True)
class Room:
    """How much may wait for its export."""

    events: int = 20_000_000
    bytes: int = 2 * 1024**3


@dataclass(slots=True)
class History:
    """What is known of the history while it is on."""

    room: Room = field(default_factory=Room)
    notes: Notes = field(default_factory=Notes)
    last: int = 0
    """The number of the last event that was told."""
    total: int = 0
    """Bytes of all rows ever."""
    exported: int = 0
    exported_total: int = 0
    missing: int = 0
    gap: bool = False
    """Something is missing: so many events, or nobody knows how many."""
    marked: HistoryMark | None = None
    """The mark as it is on disk."""

    @property
    def pending(self) -> int:
        """Events that are in no file yet."""
        return self.last - self.exported

    @property
    def pending_bytes(self) -> int:
        """What they take."""
        return self.total - self.exported_total

    @property
    def is_full(self) -> bool:
        """Whether nothing more may wait."""
        return self._exceeds(1)

    @property
    def has_room(self) -> bool:
        """Whether so little waits that a history that stopped goes on."""
        return not self._exceeds(2)

    def _exceeds(self, part: int) -> bool:
        return self.pending >= self.room.events // part or self.pending_bytes >= self.room.bytes // part

    def mark(self) -> HistoryMark:
        """What the disk has to know beside the rows."""
        last = self.last if self.last == self.exported else 0
        return HistoryMark(self.exported, self.exported_total, last, self.missing, self.gap)

"""Keeps the deadlines of messages: when they expire, become due, or are purged."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Deadlines:
    """The progress of the scan of deadlines, and the deadlines that are only in memory.

    Written by: changes.positions, rules.expiry, recovery, model.state.
    """

    express: list[tuple[int, int, int]] = field(default_factory=list)
    """A heap of (deadline, queue, LookupIdentifier) of express messages."""
    timer: int = 0
    """The moment when the timer for deadlines and delays fires; 0 when it is not set."""
    scan: bytes = b""
    """The key of the expiry rows where the next scan begins."""
    overdue: dict[tuple[int, int], int] = field(default_factory=dict)
    """Deadlines before `scan`, of positions that were locked or hidden when the deadline passed."""

    @property
    def floor(self) -> int:
        """Return the moment before which there is no expiry row."""
        scanned = int.from_bytes(self.scan[:8])
        return min(scanned, *self.overdue.values()) if self.overdue else scanned

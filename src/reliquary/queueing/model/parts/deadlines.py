"""When messages expire, become due, or are purged."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Deadlines:
    """How far the manager has looked through the deadlines, and what it keeps of them in memory.

    Written by: changes.positions, rules.expiry, recovery, model.state.
    """

    express: list[tuple[int, int, int]] = field(default_factory=list)
    """A heap of (deadline, queue, LookupIdentifier) of express messages."""
    timer: int = 0
    """When the timer for deadlines and delays will fire; 0 when it is not set."""
    scan: bytes = b""
    """The key of the expiry rows where the next scan begins."""
    overdue: dict[tuple[int, int], int] = field(default_factory=dict)
    """Deadlines before that, of positions that were locked when they passed."""

    @property
    def floor(self) -> int:
        """The moment before which there is no expiry row."""
        scanned = int.from_bytes(self.scan[:8])
        return min(scanned, *self.overdue.values()) if self.overdue else scanned

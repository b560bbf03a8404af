"""Counts final acknowledgements of refused messages that have not reached their senders.

An order acknowledgement waits for those of its sender, and a limit holds for all of them together: anyone can
send messages that are refused, so without it a hostile client could fill the store with acknowledgements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class Refusals:
    """The counts by sender, and their sum."""

    total: int = 0
    _of: dict[UUID, int] = field(default_factory=dict)

    def of(self, sender: UUID) -> int:
        """Return the number that has not reached this sender yet."""
        return self._of.get(sender, 0)

    def add(self, sender: UUID) -> None:
        """Count one more for a sender."""
        self._of[sender] = self.of(sender) + 1
        self.total += 1

    def remove(self, sender: UUID) -> None:
        """Count one less, because it has reached its sender.

        One from before the start of the process was not counted.
        """
        left = self.of(sender) - 1
        if left < 0:
            return
        self.total -= 1
        if left:
            self._of[sender] = left
        else:
            del self._of[sender]

    def forget(self, sender: UUID) -> None:
        """Count none for a sender any more, because they may have left the queue unsent."""
        self.total -= self._of.pop(sender, 0)

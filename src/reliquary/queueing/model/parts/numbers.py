"""Assigns numbers: SequentialID, numbers of queues, handles."""

from __future__ import annotations

from typing import Final

SEQUENCE_BLOCK: Final = 1 << 20
"""The size of a block of numbers; blocks are reserved on disk, so that no number is assigned twice after a
crash.

Half a block is more than the express messages that can be confirmed while one sync is under way.
"""


class Numbers:
    """The last numbers that were assigned, and the reserved ones.

    Written by: changes.counters, changes.queues, changes.positions, rules.era, startup, recovery.
    """

    __slots__ = ("_block", "_last_handle", "ceiling", "dirty", "last_queue", "sequence")

    def __init__(self, block: int, first_handle: int) -> None:
        """`first_handle` is random, so that a handle of an earlier process is not valid in this one."""
        self._block = block
        self._last_handle = first_handle
        self.sequence = 0
        """SequentialID: the last number that a message got."""
        self.ceiling = 0
        """Numbers up to here are reserved on disk."""
        self.last_queue = 0
        """The highest number that a queue ever had."""
        self.dirty = False
        """The row of the numbers has to be written with this batch."""

    def next_sequence(self) -> int:
        """Increment SequentialID and return it (DM-190)."""
        self.sequence += 1
        if self.sequence + self._block // 2 > self.ceiling:
            self.reserve()
        return self.sequence

    def next_sequences(self, count: int) -> range:
        """Increment SequentialID `count` times, and return the numbers."""
        first = self.sequence + 1
        self.sequence += count
        if self.sequence + self._block // 2 > self.ceiling:
            self.reserve()
        return range(first, first + count)

    def reserve(self) -> None:
        """Reserve a block of numbers long before they are used, because some are assigned without a sync."""
        self.ceiling = self.sequence + self._block
        self.dirty = True  # DM-018

    def next_handle(self) -> int:
        """Return a number that no handle, cursor, reader or timer of this process has (DM-066, DM-069)."""
        self._last_handle += 1
        return self._last_handle

    def next_queue(self) -> int:
        """Return a number that no queue of this manager ever had (DM-141)."""
        self.last_queue += 1
        self.dirty = True
        return self.last_queue

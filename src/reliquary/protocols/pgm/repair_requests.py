"""The repairs that a source owes its receivers, RFC 3208 5.3: packets with a NAK, in the order they are due.

The receivers have the other side of it in `repairs`.
"""

from __future__ import annotations

from heapq import heappop, heappush

from reliquary.base.time import Duration, Instant, later
from reliquary.protocols.pgm.window import TransmitWindow


class RepairRequests:
    """Numbers with a NAK that no repair has followed yet; only its own methods write it, but `in_a_row`."""

    __slots__ = ("_requested", "due", "in_a_row", "naks", "sent")

    def __init__(self) -> None:
        self._requested: set[int] = set()
        self.due: list[tuple[Instant, int]] = []
        """A heap: when each repair is due."""
        self.in_a_row = 0
        """Repairs since the last new packet; the source sets it to 0 when it sends one."""
        self.naks = 0
        """How many NAKs the source has confirmed."""
        self.sent = 0
        """How many repairs the source has sent."""

    def add(self, numbers: list[int], window: TransmitWindow, longest: Duration, now: Instant) -> None:
        """Take the numbers of a NAK; one that waits for its repair already is not added again."""
        self.naks += 1
        for number in numbers:
            if number not in self._requested:
                self._requested.add(number)
                heappush(self.due, (later(now, window.repair_delay(number, longest)), number))

    def take(self) -> int:
        """Remove the first repair, and return the number of its packet."""
        _, number = heappop(self.due)
        self._requested.remove(number)
        self.in_a_row += 1
        self.sent += 1
        return number

    @property
    def lowest(self) -> int | None:
        """The lowest number that waits for a repair; None if none does."""
        return min(self._requested, default=None)

    def clear(self) -> None:
        """Forget every repair that a receiver still waits for."""
        self._requested.clear()
        self.due.clear()

"""Records the repairs that receivers requested from a source, RFC 3208 5.3, in the order they are due.

Receivers have the module `repairs` for their part.
"""

from __future__ import annotations

from heapq import heappop, heappush

from reliquary.base.time import Duration, Instant, later
from reliquary.protocols.pgm.window import TransmitWindow


class RepairRequests:
    """Requested packets that were not repaired yet; only its own methods write it, except for `in_a_row`."""

    __slots__ = ("_requested", "due", "in_a_row", "naks", "sent")

    def __init__(self) -> None:
        self._requested: set[int] = set()
        self.due: list[tuple[Instant, int]] = []
        """A heap of the times when each repair is due."""
        self.in_a_row = 0
        """Repairs since the last new packet; the source sets it to 0 when it sends one."""
        self.naks = 0
        """The number of NAKs that the source has confirmed."""
        self.sent = 0
        """The number of repairs that the source has sent."""

    def add(self, numbers: list[int], window: TransmitWindow, longest: Duration, now: Instant) -> None:
        """Add the numbers of a NAK; one that already waits for its repair is not added again."""
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
        """The lowest number that waits for a repair; None if there is none."""
        return min(self._requested, default=None)

    def clear(self) -> None:
        """Forget every repair that a receiver still waits for."""
        self._requested.clear()
        self.due.clear()

"""The retry ladder: how long a sender waits for a receipt before it sends all again.

30 s  30 s  30 s  5 min  5 min  5 min  30 min  30 min  30 min  6 h  6 h ...
 ^                                                                     a time-out goes one rung on
 '--- a receipt that confirms something new, or a new stream, goes back to the first
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reliquary.base.time import HOUR, MINUTE, SECOND, Duration, Instant, later

Ladder = tuple[Duration, ...]

RESEND_LADDER: Final[Ladder] = tuple(
    Duration(span) for span in (*[30 * SECOND] * 3, *[5 * MINUTE] * 3, *[30 * MINUTE] * 3, 6 * HOUR)
)
"""ResendTimerTable (SR-158)."""


@dataclass(slots=True)
class ReceiptWait:
    """The wait of one outgoing stream for its next receipt; it is not durable."""

    ladder: Ladder
    running: bool = False
    """The timer of the protocol runs."""
    rung: int = 0
    """Which span of the ladder is waited for."""
    until: int = 0
    """When the timer fires, microseconds since 1970; 0 before the first start and after `stop`."""
    timeouts: int = 0
    """Time-outs since the last progress."""

    def start(self, now: Instant) -> Duration:
        """Wait from now on; returns when the timer is to fire."""
        span = self.ladder[self.rung]
        self.running, self.until = True, later(now, span)
        return span

    def stop(self) -> None:
        """Wait no more: nothing is outstanding, or no receipt can come."""
        self.running, self.until = False, 0

    def time_out(self) -> None:
        """The receiver was reached and sent no receipt in time: the next wait is longer."""
        self.rung = min(self.rung + 1, len(self.ladder) - 1)
        self.timeouts += 1

    def progress(self) -> None:
        """A receipt confirmed something, or a new stream begins: the next wait is short again."""
        self.rung = self.timeouts = 0

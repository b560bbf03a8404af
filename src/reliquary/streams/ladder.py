"""Computes how long a sender waits for a receipt before it sends all messages again.

30 s  30 s  30 s  5 min  5 min  5 min  30 min  30 min  30 min  6 h  6 h ...
 ^                                                                     a time-out moves one step on
 '--- a receipt that confirms new messages, or a new stream, moves back to the first step
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reliquary.base.time import HOUR, MINUTE, SECOND, Duration, Instant, later

Ladder = tuple[Duration, ...]
"""The times to wait, one for each step."""

RESEND_LADDER: Final[Ladder] = tuple(
    Duration(span) for span in (*[30 * SECOND] * 3, *[5 * MINUTE] * 3, *[30 * MINUTE] * 3, 6 * HOUR)
)
"""The times to wait before a message is sent again: ResendTimerTable (SR-158)."""


@dataclass(slots=True)
class ReceiptWait:
    """The wait of one outgoing stream for its next receipt; it is not durable."""

    ladder: Ladder
    running: bool = False
    """Whether the timer of the protocol runs."""
    rung: int = 0
    """The index of the current time in `ladder`."""
    until: int = 0
    """When the timer fires, in microseconds since 1970; 0 before the first start and after `stop`."""
    timeouts: int = 0
    """The number of time-outs since the last progress."""

    def start(self, now: Instant) -> Duration:
        """Begin to wait, and return the time until the timer must fire."""
        span = self.ladder[self.rung]
        self.running, self.until = True, later(now, span)
        return span

    def stop(self) -> None:
        """Stop the wait, because all messages are confirmed or no receipt can come."""
        self.running, self.until = False, 0

    def time_out(self) -> None:
        """Move one step on, because the receiver was reached and sent no receipt in time."""
        self.rung = min(self.rung + 1, len(self.ladder) - 1)
        self.timeouts += 1

    def progress(self) -> None:
        """Move back to the first step, because a receipt confirmed messages or a new stream begins."""
        self.rung = self.timeouts = 0

"""Detects that a source restarted, RFC 3208 6.2.

A source that starts again may have its old identifier, and then counts its SPMs and its data from the
beginning.  The order of the SPMs distinguishes a restarted source from late packets:

    last was 700, now comes 701                          NEWER     clears any suspicion
    now comes 699, soon after 700                        LATE      the network delivered it out of order
    now comes 1, long after 700                          SUSPECT   no data is taken until the next SPM decides
    now comes 3, after a suspect 1, and not at once      RESTARTED

Two suspect SPMs with a pause between them are needed, because a program that was stopped for a while finds
doubled packets in its socket that are as old as its pause.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from reliquary.base.time import MILLISECOND, SECOND, Duration, Instant
from reliquary.wire.pgm.serial import unfolded

LATE: Final = SECOND
"""The longest time by which a network delays a packet behind packets that were sent later."""
PAUSE: Final = Duration(250 * MILLISECOND)
"""The least time between two suspect SPMs."""


class Order(Enum):
    """The meaning of the number of an SPM."""

    NEWER = "newer"
    LATE = "late"
    SUSPECT = "suspect"
    RESTARTED = "restarted"


class SpmOrder:
    """The numbers of a source's SPMs in the order of arrival."""

    __slots__ = ("_newest", "_newest_at", "_suspect", "_suspect_at")

    def __init__(self) -> None:
        self._newest: int | None = None
        self._newest_at = Instant(0)
        self._suspect: int | None = None
        self._suspect_at = Instant(0)

    @property
    def is_known(self) -> bool:
        """Whether an SPM has arrived from the source."""
        return self._newest is not None

    @property
    def is_suspect(self) -> bool:
        """Whether the last SPM may come from a source that restarted."""
        return self._suspect is not None

    def hear(self, number: int, now: Instant) -> Order:
        """Compare the number of an SPM with those before it."""
        place = number if self._newest is None else unfolded(number, self._newest)
        if self._newest is None or place > self._newest:
            self._newest, self._newest_at, self._suspect = place, now, None
            return Order.NEWER
        if now - self._newest_at < LATE:
            return Order.LATE
        if self._suspect is None or place < self._suspect:
            self._suspect, self._suspect_at = place, now
        elif place > self._suspect and now - self._suspect_at >= PAUSE:
            return Order.RESTARTED
        return Order.SUSPECT

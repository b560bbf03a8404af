"""Limits the number of packets that all sessions of a process may miss at a time.

Every missing packet takes memory and is requested, and every host that can send to a group can invent
sources and gaps.  If other sessions have used up the budget, a session still has the share of one NAK,
so that invented gaps slow down the repair of real ones and do not stop it.
"""

from __future__ import annotations

from typing import Final

from reliquary.wire.pgm.options import MOST_LISTED

SHARE: Final = MOST_LISTED + 1
"""The number of packets that each session may miss in any case, as many as a NAK can name."""


class Budget:
    """Counts the missing packets of all sessions together."""

    __slots__ = ("_most", "missing")

    def __init__(self, most: int) -> None:
        self._most = most
        self.missing = 0

    def room(self, own: int) -> int:
        """Return how many more packets a session may miss that misses `own` now."""
        return max(self._most - self.missing, SHARE - own, 0)

"""By how much counters grew within the last quarter of an hour, of which the server keeps only the sums."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

from reliquary.base.time import SECOND

RECENT: Final = 15 * 60 * SECOND
"""The time that counts, in microseconds: the alert rules of deploy/alerts.yml look back as far."""


class Growth:
    """The steps by which counters grew, by the names of their objects."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._steps: dict[str, deque[tuple[int, int]]] = {}
        """Moments and increases, the oldest first."""

    def note(self, moment: int, counts: Mapping[str, int]) -> None:
        """Note the values of all counters; one that was not there before began at 0."""
        for name, count in counts.items():
            more = count - self._last.get(name, 0)
            if more > 0:
                self._steps.setdefault(name, deque()).append((moment, more))
        self._last = dict(counts)
        for name, steps in list(self._steps.items()):
            while steps and steps[0][0] <= moment - RECENT:
                steps.popleft()
            if not steps:
                del self._steps[name]

    def recent(self) -> dict[str, int]:
        """Return the increase of each counter that grew, by the name of its object."""
        return {name: sum(more for _, more in steps) for name, steps in sorted(self._steps.items())}

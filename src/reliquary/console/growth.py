"""Computes by how much counters grew in the last quarter of an hour."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

from reliquary.base.time import SECOND

RECENT: Final = 15 * 60 * SECOND
"""The period in microseconds, which equals that of the alert rules of deploy/alerts.yml."""


class Growth:
    """The increases of counters, by the names of their objects."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._steps: dict[str, deque[tuple[int, int]]] = {}
        """Times and increases, the oldest first."""

    def note(self, moment: int, counts: Mapping[str, int]) -> None:
        """Record the values of all counters; a new one began at 0."""
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

"""Keeps timers by name, in the order in which they fire; each name has at most one timer."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from reliquary.base.turn import TimerName


class Timers:
    """Timers that are set; times are microseconds of the clock that the owner uses."""

    def __init__(self) -> None:
        self._due: dict[TimerName, int] = {}
        self._heap: list[tuple[int, TimerName]] = []

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, name: TimerName) -> bool:
        return name in self._due

    def set(self, name: TimerName, at: int) -> None:
        """Set a timer; a timer with this name is replaced."""
        self._due[name] = at
        heappush(self._heap, (at, name))
        if len(self._heap) > 2 * len(self._due) + 64:
            self._heap = [(due, each) for each, due in self._due.items()]
            heapify(self._heap)

    def cancel(self, name: TimerName) -> None:
        """Remove a timer; a timer that is not set is no error."""
        self._due.pop(name, None)

    def next(self) -> int | None:
        """Return the time at which the next timer fires, or None if no timer is set."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take_due(self, now: int) -> list[TimerName]:
        """Remove the timers whose time has come, and return their names."""
        due = []
        while (at := self.next()) is not None and at <= now:
            _, name = heappop(self._heap)
            del self._due[name]
            due.append(name)
        return due

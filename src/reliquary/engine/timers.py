"""Timers by name, in the order they are due; a name is set at most once."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from reliquary.base.turn import TimerName


class Timers:
    """Moments are microseconds of whatever clock the owner counts on."""

    def __init__(self) -> None:
        self._due: dict[TimerName, int] = {}
        self._heap: list[tuple[int, TimerName]] = []

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, name: TimerName) -> bool:
        return name in self._due

    def set(self, name: TimerName, at: int) -> None:
        """Set a timer, or set it anew."""
        self._due[name] = at
        heappush(self._heap, (at, name))
        if len(self._heap) > 2 * len(self._due) + 64:
            self._heap = [(due, each) for each, due in self._due.items()]
            heapify(self._heap)

    def cancel(self, name: TimerName) -> None:
        """Forget a timer; one that is not set is no error."""
        self._due.pop(name, None)

    def next(self) -> int | None:
        """When the next timer is due."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take_due(self, now: int) -> list[TimerName]:
        """The timers that have run out, which are set no longer."""
        due = []
        while (at := self.next()) is not None and at <= now:
            _, name = heappop(self._heap)
            del self._due[name]
            due.append(name)
        return due

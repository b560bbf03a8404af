"""Schedules actions: one heap by moment, and in random order for equal moments."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from reliquary.sim.chance import SeededChance

Action = Callable[[], None]


class Scheduler:
    """Simulated time in microseconds, which stands still while an action runs."""

    def __init__(self, chance: SeededChance) -> None:
        self._chance = chance
        self._heap: list[tuple[int, int, int, Action]] = []
        self._count = 0
        self.now = 0

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, moment: int, action: Action) -> None:
        """Schedule an action for this moment, or for now if the moment is past."""
        self._count += 1
        heappush(self._heap, (max(moment, self.now), self._chance.bits(16), self._count, action))

    def after(self, delay: int, action: Action) -> None:
        """Schedule an action after a delay."""
        self.at(self.now + delay, action)

    def step(self) -> bool:
        """Run the next action; return False if none is left."""
        if not self._heap:
            return False
        self.now, _, _, action = heappop(self._heap)
        action()
        return True

    def pass_time(self, span: int) -> None:
        """Run all actions of this span of time."""
        end = self.now + span
        self.at(end, lambda: None)
        self.run_until(lambda: self.now >= end, latest=end)

    def run_until(self, done: Callable[[], bool], *, latest: int) -> bool:
        """Run actions until `done` is true, at most up to a moment; return whether it was true by then."""
        while not done():
            if not self._heap or self._heap[0][0] > latest:
                return False
            self.step()
        return True

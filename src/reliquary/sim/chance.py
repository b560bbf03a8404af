"""Draws all random decisions of a run from its seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Option = TypeVar("Option")


class SeededChance:
    """A `base.chance.Chance` with further functions for the simulator."""

    __slots__ = ("_random",)

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a seed must repeat the run

    def bits(self, count: int) -> int:
        """Return a random number with `count` bits."""
        return self._random.getrandbits(count)

    def happens(self, probability: float) -> bool:
        """Return True with this probability; a probability of 0 draws no number."""
        return probability > 0 and self._random.random() < probability

    def between(self, low: int, high: int) -> int:
        """Return a number from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, options: Sequence[Option]) -> Option:
        """Return one of the options, each with equal probability."""
        return options[int(self._random.random() * len(options))]

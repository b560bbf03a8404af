"""Counts values in a histogram as Prometheus defines it: the number of values in each of several ranges.

bounds   0.001   0.01   0.1          a value is counted in the first bucket whose bound it does not pass,
counts   12      40     3     1      or in the last one, which has no bound
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

INFINITE: Final = float("inf")


class Histogram:
    """Counts of values by their size, and their sum; code that runs for each sync adds to it in place."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        """The largest value of each bucket, in ascending order."""
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count a value in its bucket, and add it to the sum."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    @property
    def count(self) -> int:
        """Return the number of all values that were added."""
        return sum(self.counts)

    def above(self, bound: float) -> int:
        """Return how many values are larger than one of the bounds."""
        return sum(self.counts[self.bounds.index(bound) + 1 :])

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """Yield each bound, the infinite one last, with the number of values that do not pass it."""
        yield from zip((*self.bounds, INFINITE), accumulate(self.counts), strict=True)

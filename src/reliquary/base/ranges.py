"""Keeps sets of whole numbers as ranges, for example the numbers that were acknowledged or are missing."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator


class NumberRanges:
    """A set of numbers as sorted, disjoint, non-adjacent ranges; both ends belong to a range.

    >>> acknowledged = NumberRanges([(1, 3), (7, 7)])
    >>> acknowledged.add(4, 6)
    >>> list(acknowledged)
    [(1, 7)]
    """

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._lows: list[int] = []
        self._highs: list[int] = []
        for low, high in ranges:
            self.add(low, high)

    def add(self, low: int, high: int | None = None) -> None:
        """Add the numbers from low to high, or the one number."""
        high = low if high is None else high
        assert low <= high, f"a range runs upwards, not from {low} to {high}"
        start = bisect_left(self._highs, low - 1)
        end = bisect_right(self._lows, high + 1)
        if start < end:
            low = min(low, self._lows[start])
            high = max(high, self._highs[end - 1])
        self._lows[start:end] = [low]
        self._highs[start:end] = [high]

    def remove(self, low: int, high: int | None = None) -> None:
        """Remove the numbers from low to high, or the one number."""
        high = low if high is None else high
        start = bisect_left(self._highs, low)
        end = bisect_right(self._lows, high)
        if start >= end:
            return
        kept = []
        if self._lows[start] < low:
            kept.append((self._lows[start], low - 1))
        if self._highs[end - 1] > high:
            kept.append((high + 1, self._highs[end - 1]))
        self._lows[start:end] = [first for first, _ in kept]
        self._highs[start:end] = [last for _, last in kept]

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self._highs, number)
        return place < len(self._lows) and self._lows[place] <= number

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(list(zip(self._lows, self._highs, strict=True)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberRanges) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        """Return how many numbers the ranges contain."""
        return sum(self._highs) - sum(self._lows) + len(self._lows)

    def __repr__(self) -> str:
        return f"NumberRanges({list(self)})"

    def gaps(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges between low and high that are not in the set."""
        for first, last in self:
            if first > high:
                break
            if low < first:
                yield low, first - 1
            low = max(low, last + 1)
        if low <= high:
            yield low, high

"""How a cost grows: the slope over many cases, and whether a case is expensive beside the smallest."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

ALLOWED = 1.2
"""How much more a message may cost than in the smallest case, as a factor."""


class Point(NamedTuple):
    """The cost of a message in one case."""

    extent: float
    """The depth of the queue, the bytes of the body, the number of queues or of connections."""
    cost: float


class Line(NamedTuple):
    """A cost that has a fixed part, and a part for each byte."""

    fixed: float
    rising: float

    def dominates(self, extent: float) -> bool:
        """Return whether the rising part is the larger one in this case."""
        return self.rising * extent > self.fixed


def slope(points: Sequence[Point]) -> float:
    """Return the power of the extent with which the cost grows: 0 is no growth, 1 is in proportion."""
    across = [log(point.extent) for point in points]
    up = [log(point.cost) for point in points]
    middle, height = sum(across) / len(across), sum(up) / len(up)
    spread = sum((x - middle) ** 2 for x in across)
    rise = sum((x - middle) * (y - height) for x, y in zip(across, up, strict=True))
    return rise / spread if spread else 0.0


def line(points: Sequence[Point]) -> Line:
    """Return the line from the smallest case to the largest; a cost that falls has no rising part."""
    small, large = min(points), max(points)
    if large.extent == small.extent:
        return Line(small.cost, 0.0)
    rising = max(0.0, (large.cost - small.cost) / (large.extent - small.extent))
    return Line(small.cost - rising * small.extent, rising)


def expensive(points: Sequence[Point], *, bytes_count: bool = False) -> list[Point]:
    """Return the cases whose cost is more than allowed; cases that bytes dominate are not judged."""
    allowed = ALLOWED * min(points).cost
    fitted = line(points)
    return [
        point
        for point in points
        if point.cost > allowed and not (bytes_count and fitted.dominates(point.extent))
    ]

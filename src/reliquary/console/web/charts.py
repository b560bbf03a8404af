"""Draws line charts as SVG, which need no script and no style of their own.

Series, Series, ... --> scale --> <svg> with axes, a line for each series, the last values in words
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final, NamedTuple

from markupsafe import Markup

from reliquary.base.time import SECOND

WIDTH: Final = 600
HEIGHT: Final = 180
LEFT: Final = 56
"""The room for the numbers of the vertical axis."""
BOTTOM: Final = 26
"""The room for the times below the horizontal axis."""
TOP: Final = 10
_NICE: Final = (1, 2, 4, 8, 12)
_LEAST_COUNT: Final = 4
"""The least maximum of a chart of integers, which has four marks."""
_UNITS: Final = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))

Point = tuple[int, float]
"""A time in microseconds since 1970, and a value."""


class Series(NamedTuple):
    """One line of a chart."""

    name: str
    points: Sequence[Point]


def line_chart(title: str, unit: str, *series: Series) -> Markup:
    """Return a chart of lines that share one axis; without two points, a sentence about that."""
    moments = [moment for each in series for moment, _ in each.points]
    if len(moments) < 2 or min(moments) == max(moments):
        return Markup('<p class="empty">{}</p>').format("The chart begins with the second sample.")
    begin, end = min(moments), max(moments)
    most = max(value for each in series for _, value in each.points)
    top = nice_top(most if unit else max(most, _LEAST_COUNT))
    words = ", ".join(f"{each.name} {short(each.points[-1][1])}" for each in series if each.points)
    label = escape(f"{title}: now {words} {unit}")
    lines = "".join(
        f'<polyline class="line line-{place}" points="{_points(each.points, begin, end, top)}"/>'
        for place, each in enumerate(series)
    )
    area = _area(series[0].points, begin, end, top) if len(series) == 1 else ""
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{_axes(begin, end, top)}{area}{lines}</svg>"
    )


def legend(unit: str, *series: Series) -> list[tuple[int, str, str]]:
    """Return the number, the name and the last value of each line, for the text beside a chart."""
    return [
        (place, each.name, _with_unit(each.points[-1][1], unit) if each.points else "-")
        for place, each in enumerate(series)
    ]


def _with_unit(value: float, unit: str) -> str:
    return f"{short(value)}{unit if unit.startswith('/') else f' {unit}'}".strip()


def nice_top(most: float) -> float:
    """Return the first of 1, 2, 4, 8, 12, 20, 40, 80, 120, ... that is not below the largest value.

    A quarter of it, and so each mark of the axis, is a short number.

    >>> nice_top(0), nice_top(3.2), nice_top(17), nice_top(501)
    (1, 4, 20, 800)
    """
    step = 1
    while step * 10 < most:
        step *= 10
    return next(factor * step for factor in _NICE if factor * step >= most)


def short(value: float) -> str:
    """Return a number with at most four digits.

    >>> short(0), short(0.25), short(12.5), short(1234), short(25_000_000)
    ('0', '0.25', '12.5', '1.23k', '25M')
    """
    for size, letter in _UNITS:
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _points(points: Sequence[Point], begin: int, end: int, top: float) -> str:
    return " ".join(f"{_x(moment, begin, end):.1f},{_y(value, top):.1f}" for moment, value in points)


def _area(points: Sequence[Point], begin: int, end: int, top: float) -> str:
    """Return the surface below a line."""
    floor = _y(0, top)
    first, last = (_x(points[place][0], begin, end) for place in (0, -1))
    line = _points(points, begin, end, top)
    return f'<polygon class="area" points="{first:.1f},{floor:.1f} {line} {last:.1f},{floor:.1f}"/>'


def _x(moment: int, begin: int, end: int) -> float:
    return LEFT + (WIDTH - LEFT) * (moment - begin) / (end - begin)


def _y(value: float, top: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)


def _axes(begin: int, end: int, top: float) -> str:
    rows = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(value)}</text>'
        for value, y in ((part, _y(part, top)) for part in (0, top / 4, top / 2, top * 3 / 4, top))
    )
    times = "".join(
        f'<text class="tick" x="{x}" y="{HEIGHT - 4}" text-anchor="{anchor}">{_clock(moment)}{zone}</text>'
        for x, anchor, moment, zone in ((LEFT, "start", begin, ""), (WIDTH, "end", end, " UTC"))
    )
    return rows + times


def _clock(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment / SECOND, UTC):%H:%M:%S}"

"""Draws charts as SVG text without a library, so that the report needs no script and no network.

Every chart has a title, and every number in it can be read: bars and points
carry their value as a tooltip, axes have round steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 960
INK: Final = "#475569"
FAINT: Final = "#e2e8f0"
LETTER: Final = 8
"""The width of a letter; the average letter of a name is not wider."""


@dataclass(frozen=True)
class Series:
    """One line of a chart over time."""

    name: str
    color: str
    values: Sequence[float]


def number(value: float) -> str:
    """Return a count with separators.

    >>> number(12345678), number(950)
    ('12,345,678', '950')
    """
    return f"{value:,.0f}"


def span(seconds: float | None) -> str:
    """Return a duration in readable form.

    >>> span(0.0123), span(75), span(5400), span(None)
    ('12 ms', '1.25 min', '1.5 h', '–')
    """
    if seconds is None:
        return "–"
    for size, unit, least in ((86400, "d", 172800), (3600, "h", 5400), (60, "min", 60), (1, "s", 1)):
        if seconds >= least:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1000:.0f} ms"


def steps(most: float, wanted: int = 4) -> list[float]:
    """Return round values from 0 to at least the largest one.

    >>> steps(87)
    [0.0, 25.0, 50.0, 75.0, 100.0]
    """
    if most <= 0:
        return [0.0, 1.0]
    rough = most / wanted
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    return [step * each for each in range(math.ceil(most / step - 1e-9) + 1)]


def lines(title: str, labels: Sequence[str], series: Sequence[Series], height: int = 260) -> str:
    """Return a chart of series over time, with one point for each label."""
    left, right, top, bottom = 64, 12, 12, 34
    marks = steps(max((value for each in series for value in each.values), default=0))
    wide, high = WIDTH - left - right, height - top - bottom
    count = len(labels)

    def x(place: int) -> float:
        return left + (wide * place / (count - 1) if count > 1 else wide / 2)

    def y(value: float) -> float:
        return top + high * (1 - value / marks[-1])

    parts = [_open(title, WIDTH, height)]
    for mark in marks:
        parts.append(
            f'<line x1="{left}" x2="{WIDTH - right}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" stroke="{FAINT}"/>'
        )
        parts.append(_text(left - 8, y(mark) + 4, number(mark), anchor="end"))
    every = _every(labels, wide)
    for place in range(0, count, every):
        anchor = "start" if place == 0 else "end" if place == count - 1 else "middle"
        parts.append(_text(x(place), height - 12, labels[place], anchor=anchor))
    for each in series:
        points = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(each.values))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{each.color}" stroke-width="2" '
            'stroke-linejoin="round"/>'
        )
        for place, value in enumerate(each.values):
            parts.append(
                f'<circle cx="{x(place):.1f}" cy="{y(value):.1f}" r="{2.5 if count <= 80 else 1.2}" '
                f'fill="{each.color}">'
                f"<title>{escape(each.name)}, {escape(labels[place])}: {number(value)}</title></circle>"
            )
    return "".join(parts) + "</svg>" + _legend(series)


def bars(title: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """Return rows of a name, a value and a color."""
    left, right, each = 240, 90, 30
    height = each * len(rows) + 8
    most = max((value for _, value, _ in rows), default=0) or 1
    parts = [_open(title, WIDTH, height)]
    for place, (name, value, color) in enumerate(rows):
        y = place * each + 4
        wide = (WIDTH - left - right) * value / most
        parts.append(_text(left - 12, y + 18, name, anchor="end", color="#0f172a"))
        parts.append(
            f'<rect x="{left}" y="{y + 4}" width="{WIDTH - left - right}" height="18" rx="3" fill="#f1f5f9"/>'
        )
        if value:
            parts.append(
                f'<rect x="{left}" y="{y + 4}" width="{max(wide, 3):.1f}" height="18" rx="3" fill="{color}">'
                f"<title>{escape(name)}: {number(value)}</title></rect>"
            )
        parts.append(_text(left + max(wide, 0) + 8, y + 18, number(value), color="#0f172a"))
    return "".join(parts) + "</svg>"


@dataclass(frozen=True)
class Spread:
    """The times that messages of one stream took, in seconds."""

    name: str
    half: float
    most: float
    nearly_all: float
    longest: float


def spreads(title: str, rows: Sequence[Spread]) -> str:
    """Return a chart with a bar from the median to the longest time of each stream, on a log scale."""
    left, right, each = 400, 40, 34
    height = each * len(rows) + 34
    low = min((row.half for row in rows), default=0.001) or 0.001
    high = max((row.longest for row in rows), default=1) or 1
    begin, end = math.floor(math.log10(max(low, 0.001))), math.ceil(math.log10(max(high, 0.002)))
    end = max(end, begin + 1)

    def x(seconds: float) -> float:
        share = (math.log10(max(seconds, 10.0**begin)) - begin) / (end - begin)
        return left + (WIDTH - left - right) * min(max(share, 0), 1)

    every = _every([span(10.0**power) for power in range(begin, end + 1)], WIDTH - left - right)
    parts = [_open(title, WIDTH, height)]
    for power in range(begin, end + 1):
        at = x(10.0**power)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="4" y2="{height - 26}" stroke="{FAINT}"/>')
        if (power - begin) % every == 0:
            parts.append(_text(at, height - 10, span(10.0**power), anchor="middle"))
    for place, row in enumerate(rows):
        y = place * each + 20
        parts.append(
            _text(
                left - 14,
                y + 4,
                _short(row.name, (left - 20) // LETTER),
                anchor="end",
                color="#0f172a",
                full=row.name,
            )
        )
        parts.append(
            f'<line x1="{x(row.half):.1f}" x2="{x(row.longest):.1f}" y1="{y}" y2="{y}" stroke="#bfdbfe" '
            'stroke-width="8" stroke-linecap="round"/>'
        )
        points = (
            ("half", row.half, "#1e3a8a"),
            ("90 %", row.most, "#2563eb"),
            ("99 %", row.nearly_all, "#60a5fa"),
        )
        for word, value, color in points:
            parts.append(
                f'<circle cx="{x(value):.1f}" cy="{y}" r="6" fill="{color}" stroke="#fff" stroke-width="1.5">'
                f"<title>{escape(row.name)}: {word} within {span(value)}</title></circle>"
            )
    key = (
        ("half of the messages", "#1e3a8a"),
        ("90 %", "#2563eb"),
        ("99 %", "#60a5fa"),
        ("the longest", "#bfdbfe"),
    )
    return "".join(parts) + "</svg>" + _legend([Series(name, color, ()) for name, color in key])


def _open(title: str, width: int, height: int) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title, quote=True)}" '
        'xmlns="http://www.w3.org/2000/svg">'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", color: str = INK, full: str = "") -> str:
    shown = f"<title>{escape(full)}</title>" if full else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{shown}{escape(text)}</text>'


def _short(name: str, most: int) -> str:
    """Return as much of the name's beginning and end as there is room for."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-(most // 2) :]}"


def _every(labels: Sequence[str], wide: float) -> int:
    """Return the step between written labels, so that none touches the next; the ends lean inwards."""
    longest = max(map(len, labels), default=0) * LETTER
    return max(1, math.ceil(1.5 * longest * max(len(labels) - 1, 1) / wide))


def _legend(series: Sequence[Series]) -> str:
    items = "".join(
        f'<li><span style="background:{each.color}"></span>{escape(each.name)}</li>' for each in series
    )
    return f'<ul class="legend">{items}</ul>'

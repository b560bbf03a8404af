"""Drawings as SVG text, made from rows of words: no program beside Python is needed, and no network.

    lanes     the columns: rooms, computers or states, each with a vertical line
    a step    one row: its text on the left, its arrow between two lanes on the right
    layers    boxes in rows, one row above the other

No two labels can overlap, because each step has a row of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

CHARACTER: Final = 6.8
"""The width of a character in pixels, rounded up, at the size of the font."""
ROW: Final = 26
HEAD: Final = 34
MARGIN: Final = 14
GAP: Final = 22
"""The least space between two lanes."""
LINE, TEXT, BOX, ARROW = "#b8c0cc", "#1f2733", "#e8edf4", "#3b5b8c"
_ARROW_HEAD: Final = 7


@dataclass(frozen=True, slots=True)
class DrawingRow:
    """One row of a drawing with lanes."""

    text: str
    sources: tuple[str, ...]
    """The lanes where arrows begin; one lane that is also the target is a step inside that lane."""
    target: str


def lanes_svg(title: str, lanes: Sequence[str], steps: Sequence[DrawingRow]) -> str:
    """Return the drawing of some steps between lanes."""
    left = MARGIN * 2 + max(_width(each.text) for each in steps)
    centres: dict[str, float] = {}
    right = float(left)
    for lane in lanes:
        centres[lane] = right + _width(lane) / 2 + 8
        right += _width(lane) + 16 + GAP
    width = round(right - GAP + MARGIN)
    height = HEAD + MARGIN * 2 + ROW * len(steps)
    parts = [*_opening(title, width, height)]
    for lane in lanes:
        x, half = centres[lane], _width(lane) / 2 + 8
        parts.append(f'<path d="M{x:.0f} {MARGIN + HEAD - 8}V{height - MARGIN}" stroke="{LINE}"/>')
        parts += _box(lane, x - half, MARGIN, half * 2, HEAD - 8)
    for number, step in enumerate(steps):
        y = HEAD + MARGIN + ROW * number + ROW // 2
        parts.append(f'<text x="{MARGIN}" y="{y + 4}" fill="{TEXT}">{escape(step.text)}</text>')
        parts += _arrows(step, centres, y)
    return "\n".join([*parts, "</svg>", ""])


def layers_svg(title: str, layers: Sequence[tuple[Sequence[str], str]]) -> str:
    """Return a drawing of layers, each with the names of its boxes and a text beside them."""
    widths = [sum(_width(name) + 16 + 8 for name in names) for names, _ in layers]
    left = MARGIN + max(widths) + MARGIN
    width = round(left + max(_width(text) for _, text in layers) + MARGIN)
    height = MARGIN * 2 + (ROW + 10) * len(layers)
    parts = [*_opening(title, width, height)]
    for number, (names, text) in enumerate(layers):
        x, y = float(MARGIN), MARGIN + (ROW + 10) * number
        for name in names:
            parts += _box(name, x, y, _width(name) + 16, ROW)
            x += _width(name) + 16 + 8
        parts.append(f'<text x="{left:.0f}" y="{y + ROW / 2 + 4:.0f}" fill="{TEXT}">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _opening(title: str, width: int, height: int) -> list[str]:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
    ]


def _box(text: str, x: float, y: float, width: float, height: float) -> list[str]:
    at = f'x="{x + width / 2:.0f}" y="{y + height / 2 + 4:.0f}"'
    return [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="4" fill="{BOX}"/>',
        f'<text {at} text-anchor="middle" fill="{TEXT}">{escape(text)}</text>',
    ]


def _arrows(step: DrawingRow, centres: dict[str, float], y: int) -> list[str]:
    """Return a dot for each source, and a line with a head from the outermost ones to the target."""
    end = centres[step.target]
    begins = [centres[each] for each in step.sources]
    parts = [f'<circle cx="{x:.0f}" cy="{y}" r="3.5" fill="{ARROW}"/>' for x in begins]
    for side in (-1, 1):
        outer = [x for x in begins if (x - end) * side > 0]
        if outer:
            far, tip = max(outer, key=lambda x: abs(x - end)), end + side * 2
            back = tip + side * _ARROW_HEAD
            parts.append(f'<path d="M{far:.0f} {y}H{back:.0f}" stroke="{ARROW}" stroke-width="1.5"/>')
            parts.append(f'<path d="M{tip:.0f} {y}L{back:.0f} {y - 4}V{y + 4}Z" fill="{ARROW}"/>')
    return parts


def _width(text: str) -> float:
    return len(text) * CHARACTER

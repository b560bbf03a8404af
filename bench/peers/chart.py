"""Draws the rates: a panel for each load, with its own scale and a bar for each peer."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.peers.rounds import Summary

NAMES, BARS, FIGURES, GAP = 150, 150, 80, 10
ROW, HEAD, FOOT = 24, 44, 46
OURS, OTHERS, UNPROVEN = "#c2571a", "#5b7c99", "#c9d3dc"


def chart(
    summaries: Sequence[Summary], titles: dict[str, str], ours: str, unproven: Sequence[str], foot: str
) -> str:
    """Return an SVG of all rates; a peer whose confirms were not proven to follow a sync is drawn pale."""
    shapes = list(dict.fromkeys(each.shape for each in summaries))
    peers = list(dict.fromkeys(each.peer for each in summaries))
    width = NAMES + len(shapes) * (BARS + FIGURES + GAP)
    height = HEAD + len(peers) * ROW + FOOT
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, peer in enumerate(peers):
        weight = "bold" if peer == ours else "normal"
        y = HEAD + place * ROW + 15
        parts.append(_text(NAMES - GAP, y, titles[peer], f'text-anchor="end" font-weight="{weight}"'))
    for column, shape in enumerate(shapes):
        x = NAMES + column * (BARS + FIGURES + GAP)
        parts.append(_text(x, HEAD - 12, f"{shape.replace('x', ' × ')}, messages/s", 'font-weight="bold"'))
        panel = {each.peer: each for each in summaries if each.shape == shape}
        most = max(each.messages_per_second for each in panel.values()) or 1
        for place, peer in enumerate(peers):
            if peer in panel:
                colour = OURS if peer == ours else UNPROVEN if peer in unproven else OTHERS
                parts += _bar(panel[peer], x, HEAD + place * ROW, BARS / most, colour)
    parts.append(_text(GAP, height - 26, foot, 'fill="#555"'))
    if unproven:
        parts.append(_text(GAP, height - 10, "pale: not every confirm waits for a sync", 'fill="#555"'))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _bar(summary: Summary, x: int, y: int, scale: float, colour: str) -> list[str]:
    length = max(summary.messages_per_second * scale, 1)
    return [
        f'<rect x="{x}" y="{y + 3}" width="{length:.1f}" height="{ROW - 8}" fill="{colour}"/>',
        _text(round(x + length + 5), y + 15, f"{summary.messages_per_second:,.0f}", 'fill="#222"'),
    ]


def _text(x: int, y: int, words: str, style: str) -> str:
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'

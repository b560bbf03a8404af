"""Tests the drawing: one bar for each figure, as long as its share of the panel's greatest."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from bench.peers.chart import BARS, OTHERS, OURS, UNPROVEN, chart
from bench.peers.rounds import Summary

SVG = "{http://www.w3.org/2000/svg}"


def summary(peer: str, shape: str, rate: float) -> Summary:
    return Summary(peer, shape, rate, rate, rate, 1, server_us=1, load_us=1, confirm_ms=1)


def test_bars_are_to_the_scale_of_their_panel() -> None:
    rows = [
        summary("ours", "1x1", 50),
        summary("other", "1x1", 200),
        summary("pale", "1x1", 0),
        summary("ours", "16x64", 80_000),
    ]
    titles = {"ours": "Ours <1>", "other": "Other 2", "pale": "Pale 3"}
    drawing = ET.fromstring(chart(rows, titles, "ours", ["pale"], "busy & noisy"))
    bars = [(each.get("fill"), float(each.get("width", ""))) for each in drawing.iter(f"{SVG}rect")][1:]
    assert bars == [(OURS, BARS / 4), (OTHERS, BARS), (UNPROVEN, 1), (OURS, BARS)]
    words = [each.text for each in drawing.iter(f"{SVG}text")]
    assert words[:3] == ["Ours <1>", "Other 2", "Pale 3"]
    assert {"1 × 1, messages/s", "16 × 64, messages/s", "50", "80,000", "busy & noisy"} <= set(words)
    assert words[-1] == "pale: not every confirm waits for a sync"


def test_a_chart_without_a_pale_bar_does_not_explain_one() -> None:
    assert "pale" not in chart([summary("ours", "1x1", 50)], {"ours": "Ours"}, "ours", [], "quiet")

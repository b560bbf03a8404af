"""Tests charts: well-formed, with their data escaped."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.audit.charts import (
    LETTER,
    Series,
    Spread,
    bars,
    lines,
    spreads,
    steps,
)
from reliquary.spark.pipelines.audit.meanings import NAMES

EVIL = "<script>alert('&\"')</script>"


def parsed(chart: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{chart}</div>")


@pytest.mark.parametrize("count", [1, 2, 9, 200])
def test_lines_have_a_point_a_value(count: int) -> None:
    tree = parsed(lines(EVIL, [EVIL] * count, [Series(EVIL, "#000", list(range(count)))]))
    assert len(tree.findall(".//{*}circle")) == count
    assert tree.findall(".//{*}script") == []


def test_bars_show_their_values() -> None:
    tree = parsed(bars("x", [(EVIL, 0, "#111"), ("b", 12345, "#222")]))
    assert "12,345" in [text.text for text in tree.findall(".//{*}text")]
    longest = bars("x", [(name, 10**7, "#111") for name in NAMES.values()])
    assert all(begin >= 0 and end <= 960 for _, begin, end in spans(longest))


@pytest.mark.parametrize("times", [(0.0, 0.0, 0.0, 0.0), (0.01, 1, 20, 4000), (5, 5, 5, 5)])
def test_spreads_stay_in_the_picture(times: tuple[float, float, float, float]) -> None:
    tree = parsed(spreads("x", [Spread(EVIL * 9, *times)]))
    places = [float(point.attrib["cx"]) for point in tree.findall(".//{*}circle")]
    assert len(places) == 3
    assert places == sorted(places)
    assert all(0 <= place <= 960 for place in places)


def test_no_data_is_a_chart_too() -> None:
    parsed(lines("x", [], []))
    parsed(bars("x", []))
    parsed(spreads("x", []))


@given(st.integers(0, 10**12))
def test_steps_reach_the_largest_value_in_a_few_steps(most: int) -> None:
    marks = steps(most)
    assert marks[0] == 0
    assert marks[-1] >= most
    assert 2 <= len(marks) <= 6


def spans(chart: str) -> list[tuple[float, float, float]]:
    """Return the beginning, the end and the height of each text."""
    found = []
    for text in parsed(chart).findall(".//{*}text"):
        words = "".join(text.itertext()) if text.find("{*}title") is None else (text[0].tail or "")
        wide = len(words) * LETTER
        lean = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.attrib["text-anchor"]]
        begin = float(text.attrib["x"]) - lean * wide
        found.append((float(text.attrib["y"]), begin, begin + wide))
    return sorted(found)


@pytest.mark.parametrize("label", ["08:00", "1 March 08:00", "2026-03-01 08:00"])
@given(count=st.integers(1, 200))
def test_labels_of_times_do_not_touch(label: str, count: int) -> None:
    below = [text for text in spans(lines("x", [label] * count, [])) if text[0] == 248]
    assert below
    assert all(one[2] <= two[1] for one, two in pairwise(below))


@given(st.integers(1, 90), st.floats(0.001, 1e3), st.floats(1, 1e5))
def test_names_of_streams_are_never_cut_by_the_edge(letters: int, half: float, more: float) -> None:
    texts = spans(spreads("x", [Spread("N" * letters, half, half, half, half * more)]))
    assert all(begin >= 0 and end <= 960 for _, begin, end in texts)
    axis = [text for text in texts if text[0] == 58]
    assert all(one[2] <= two[1] for one, two in pairwise(axis))

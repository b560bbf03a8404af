"""Charts: well-formed, with their data escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.audit.charts import Series, Spread, bars, lines, spreads, steps

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

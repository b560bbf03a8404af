"""Tests charts: scales, lines and the words beside them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from reliquary.base.time import SECOND
from reliquary.console.web.charts import HEIGHT, LEFT, WIDTH, Series, legend, line_chart, nice_top


@given(st.floats(0, 1e12))
def test_the_top_of_a_scale_is_never_below_the_largest_value_nor_far_above(most: float) -> None:
    top = nice_top(most)
    assert most <= top
    assert top <= max(1, 2.5 * most)


@given(st.lists(st.tuples(st.integers(0, 10**15), st.floats(0, 1e9)), min_size=2, max_size=20))
def test_every_point_lies_inside_the_drawing(points: list[tuple[int, float]]) -> None:
    drawing = str(line_chart("depth", "", Series("messages", sorted(points))))
    for x, y in re.findall(r"([\d.]+),([\d.]+)", " ".join(re.findall(r'points="([^"]*)"', drawing))):
        assert LEFT <= float(x) <= WIDTH
        assert 0 <= float(y) <= HEIGHT


def test_a_chart_says_its_last_values_to_readers_who_do_not_see_it() -> None:
    series = Series("a<b", [(0, 1.0), (SECOND, 2.5)])
    root = etree.fromstring(str(line_chart("rate & more", "/s", series)))
    assert root.get("aria-label") == "rate & more: now a<b 2.5 /s"
    assert root.get("role") == "img"
    assert legend("/s", series) == [(0, "a<b", "2.5/s")]


def test_without_two_moments_there_is_a_sentence_in_place_of_a_chart() -> None:
    assert "second sample" in line_chart("depth", "", Series("messages", [(5, 1.0)]))
    assert "second sample" in line_chart("depth", "", Series("messages", [(5, 1.0), (5, 2.0)]))
    assert legend("", Series("messages", [])) == [(0, "messages", "-")]


@given(st.integers(0, 10**9))
def test_the_marks_of_a_chart_of_messages_are_whole_numbers(most: int) -> None:
    drawing = str(line_chart("depth", "", Series("messages", [(0, 0.0), (SECOND, float(most))])))
    marks = re.findall(r'text-anchor="end">([^<U]*)</text>', drawing)[:5]
    assert len(marks) == 5
    assert all("." not in mark or mark[-1] in "kMG" for mark in marks)

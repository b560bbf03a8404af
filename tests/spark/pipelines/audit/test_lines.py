"""Tests lines: who was overtaken, in one bucket or over several."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.audit.arrays import Table, joined
from reliquary.spark.pipelines.audit.lines import COLUMNS, crossed, ends, judged

LINES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=25)
"""The line and the turn of messages, in the order in which they came."""


def table(rows: list[tuple[int, int, int]]) -> Table:
    columns = {name: np.zeros(len(rows), np.int64) for name in COLUMNS}
    for place, name in enumerate(("line", "turn", "came")):
        columns[name] = np.array([row[place] for row in rows], np.int64)
    return Table(columns)


def overtaken(rows: list[tuple[int, int, int]]) -> set[int]:
    """Return the rows that came after a higher turn of their line."""
    return {
        came
        for line, turn, came in rows
        if any(other == line and turn < higher and before < came for other, higher, before in rows)
    }


@given(LINES)
def test_who_comes_after_a_higher_turn_was_overtaken(lines: list[tuple[int, int]]) -> None:
    rows = [(line, turn, came) for came, (line, turn) in enumerate(lines)]
    front, late = judged(table(rows))
    assert set(late["came"].tolist()) == overtaken(rows)
    assert len(front) + len(late) == len(rows)


@given(LINES, st.integers(1, 6), st.randoms())
def test_parts_of_lines_together_find_what_the_whole_line_finds(
    lines: list[tuple[int, int]], count: int, by: np.random.Generator
) -> None:
    rows = [(line, turn, came) for came, (line, turn) in enumerate(lines)]
    parts: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for row in rows:
        parts[by.choice(range(count))].append(row)
    looked = [judged(table(part)) for part in parts]
    found = {came for _, late in looked for came in late["came"].tolist()}
    for line, numbers in crossed([ends(front) for front, _ in looked]).items():
        fronts = [looked[number][0].where(looked[number][0]["line"] == line) for number in numbers]
        found |= set(judged(joined(fronts))[1]["came"].tolist())
    assert found == overtaken(rows)


def test_parts_that_follow_each_other_need_no_second_look() -> None:
    parts = [[(1, turn, turn) for turn in range(begin, begin + 10)] for begin in (0, 10, 20)]
    assert crossed([ends(judged(table(part))[0]) for part in parts]) == {}
    late = [(1, 5, 30)]
    fronts = [ends(judged(table(part))[0]) for part in (*parts, late)]
    assert crossed(fronts) == {1: {2, 3}}

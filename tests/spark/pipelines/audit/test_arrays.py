"""Tests tables of numbers: groups, merges, and their bytes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.audit.arrays import (
    NEVER,
    NONE,
    Table,
    grouped,
    hashed,
    joined,
    known,
    looked_up,
    mixed,
    packed,
    unpacked,
)

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-50, 50)), max_size=30)


def columns(rows: list[tuple[int, int, int]]) -> list[np.ndarray]:
    return [np.array([row[place] for row in rows], np.int64) for place in range(3)]


@given(ROWS)
def test_groups_are_those_of_a_dictionary(rows: list[tuple[int, int, int]]) -> None:
    one, two, value = columns(rows)
    expected: dict[tuple[int, int], list[int]] = {}
    for *key, number in sorted(rows, key=lambda row: row[:2]):
        expected.setdefault((key[0], key[1]), []).append(number)
    groups = grouped(one, two)
    keys = list(zip(groups.first(one).tolist(), groups.first(two).tolist(), strict=True))
    assert keys == list(expected)
    assert groups.sizes().tolist() == [len(chosen) for chosen in expected.values()]
    for how, function in (("min", min), ("max", max), ("sum", sum)):
        assert groups.reduced(how, value).tolist() == [function(chosen) for chosen in expected.values()]
    numbers = groups.numbers().tolist()
    assert [keys[number] for number in numbers] == [(row[0], row[1]) for row in rows]


def test_a_value_that_is_not_known_is_one_of_two() -> None:
    assert known(np.array([NEVER, NONE, 0, 5])).tolist() == [False, False, True, True]


def test_words_have_one_number_and_other_words_another() -> None:
    assert hashed("a", "b") == hashed("a", "b") != hashed("ab", "")
    assert hashed("a") > 0


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, unique=True))
def test_combinations_of_numbers_have_different_numbers(rows: list[tuple[int, int]]) -> None:
    found = mixed(*(np.array(column) for column in zip(*rows, strict=True)))
    assert len(set(found.tolist())) == len(rows)
    assert (found >= 0).all()


def test_values_are_looked_up_by_number() -> None:
    assert looked_up(np.array([3, 1, 3, 9]), {1: 10, 3: 30}, -1).tolist() == [30, 10, 30, -1]
    assert looked_up(np.array([], np.int64), {}, 0).tolist() == []


def test_tables_survive_their_bytes() -> None:
    table = Table({"a": np.array([1, NONE]), "b": np.array([NEVER, 2])})
    again = unpacked(packed({"one": table, "none": table.where(np.array([], np.int64))}))
    assert again["one"].rows() == table.rows() == [{"a": 1, "b": NEVER}, {"a": NONE, "b": 2}]
    assert len(again["none"]) == 0
    assert len(joined([again["one"], table])) == 4

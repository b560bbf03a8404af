"""Tests rows on their way to several managers: none waits for all of another, and one that fails stops
all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reliquary.client.feed import Staged
from reliquary.spark.lanes import WAITING, stage_all


def test_rows_reach_their_managers_in_order() -> None:
    taken: dict[str, list[Any]] = {}

    def stage(manager: str, rows: Iterator[Any]) -> Staged:
        taken[manager] = list(rows)
        return Staged(1, len(taken[manager]), 0, 0)

    rows = [("ab"[number % 2], number) for number in range(50)]
    staged = stage_all(iter(rows), stage)
    assert taken == {"a": list(range(0, 50, 2)), "b": list(range(1, 50, 2))}
    assert {manager: each.rows for manager, each in staged.items()} == {"a": 25, "b": 25}
    assert stage_all(iter([]), stage) == {}


def test_a_manager_that_fails_stops_the_task_and_the_others_break_off() -> None:
    ended: list[str] = []

    def stage(manager: str, rows: Iterator[Any]) -> Staged:
        for _ in rows:
            if manager == "b":
                raise OSError("the disk of b is full")
        ended.append(manager)
        return Staged(1, 0, 0, 0)

    endless = (("ab"[number % 2], number) for number in range(10**9))
    with pytest.raises(OSError, match="the disk of b is full"):
        stage_all(endless, stage)
    assert ended == [], "what does not come to its end is dropped by the manager"


def test_a_task_that_fails_breaks_all_off() -> None:
    ended: list[str] = []

    def stage(manager: str, rows: Iterator[Any]) -> Staged:
        for _ in rows:
            pass
        ended.append(manager)
        return Staged(1, 0, 0, 0)

    def rows() -> Iterator[tuple[str, int]]:
        yield from (("ab"[number % 2], number) for number in range(WAITING))
        raise ValueError("a row cannot be made")

    with pytest.raises(ValueError, match="a row cannot be made"):
        stage_all(rows(), stage)
    assert ended == []

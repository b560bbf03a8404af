"""Tests coverage: which rooms are measured, how a room's percent is made, and what fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.coverage_limits import LIMITS, compare, percent_of, rooms_without_io

ROOT = Path(__file__).parents[2]


def test_the_rooms_below_the_store_are_measured() -> None:
    text = """
        [[tool.importlinter.contracts]]
        type = "layers"
        layers = ["net", "engine", "store", "(protocols)", "streams | other", "queueing", "wire", "base"]"""
    assert rooms_without_io(text) == ["base", "wire", "queueing", "streams", "other", "protocols"]


def test_every_measured_room_exists() -> None:
    rooms = rooms_without_io((ROOT / "pyproject.toml").read_text())
    assert {"base", "wire", "queueing", "protocols"} <= {*rooms}
    assert [room for room in rooms if not (ROOT / "src" / "reliquary" / room).is_dir()] == []


def summary(lines: tuple[int, int], branches: tuple[int, int]) -> dict[str, dict[str, int]]:
    covered = {"covered_lines": lines[0], "covered_branches": branches[0]}
    return {"summary": {**covered, "num_statements": lines[1], "num_branches": branches[1]}}


def test_a_rooms_percent_is_of_all_its_lines_and_branches_rounded_down() -> None:
    files = {
        "src/reliquary/base/a.py": summary((10, 10), (3, 4)),
        "src/reliquary/base/b/c.py": summary((0, 5), (0, 0)),
        "src/reliquary/based/d.py": summary((0, 9), (0, 9)),
        "src/reliquary/wire/e.py": summary((2, 3), (0, 0)),
    }
    assert percent_of(["base", "wire"], {"files": files}) == {"base": 68.4, "wire": 66.6}


@pytest.mark.parametrize(
    ("measured", "limits", "line", "is_good"),
    [
        ({"base": 98.1}, {"base": 98.1}, "base        98.1 %  as before", True),
        (
            {"base": 98.2},
            {"base": 98.1},
            f"base        98.2 %  rose above 98.1: write `base = 98.2` into {LIMITS}",
            True,
        ),
        ({"base": 98.0}, {"base": 98.1}, "base        98.0 %  FELL below 98.1: test what was added", False),
        ({"new": 7.0}, {}, f"new          7.0 %  has no limit: write `new = 7.0` into {LIMITS}", False),
        (
            {},
            {"gone": 9.0},
            f"gone                is no room below the store: remove it from {LIMITS}",
            False,
        ),
    ],
)
def test_a_figure_may_only_rise(
    measured: dict[str, float], limits: dict[str, float], line: str, is_good: bool
) -> None:
    assert compare(measured, limits) == ([line], is_good)

"""Tests which days are computed again; test_lake shows the numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.spark.pipelines.gold import Sources
from reliquary.spark.pipelines.tables import Table


def table(folder: Path, *batches: list[str]) -> Table:
    """Return a table with batches that have rows of these days."""
    for number, days in enumerate(batches):
        for day in days:
            (folder / f"batch={number}" / f"day={day}").mkdir(parents=True)
    return Table(folder)


NOV = [f"2026-11-{day:02}" for day in range(32)]


@pytest.mark.parametrize(
    ("silver", "history", "days"),
    [
        pytest.param(-1, -1, [NOV[10], NOV[12], NOV[14], NOV[15], NOV[20]], id="at first all"),
        pytest.param(1, 1, [], id="nothing new"),
        pytest.param(0, 1, [NOV[12]], id="new messages touch their own day"),
        pytest.param(
            1, 0, [NOV[14], NOV[15]], id="new events touch those after it, as far as one looks back"
        ),
    ],
)
def test_days_of_new_batches_and_days_that_depend_on_them_are_computed_again(
    tmp_path: Path, silver: int, history: int, days: list[str]
) -> None:
    sources = Sources(
        table(tmp_path / "s", [NOV[10], "unknown"], [NOV[12]]),
        table(tmp_path / "q", [NOV[10]]),
        table(tmp_path / "h", [NOV[10], NOV[15], NOV[20]], [NOV[14]]),
    )
    assert sources.touched({"silver": silver, "history": history}, lookback=3) == days

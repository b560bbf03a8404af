"""Tests the chain of the logs: a missing synced change is damage, an unsynced rest is cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.store.chain import CutOff, Damaged, Verdict, Whole, cut_off, judge
from reliquary.store.logs import Log
from reliquary.store.mark import LogStart, Mark

FOLDER = Path("store")


def log(number: int, first: int = 0, last: int = 0, *, gap: bool = False) -> Log:
    return Log(FOLDER / f"{number:06}.log", number, first, last, last * 100, gap)


FIRST, SECOND, THIRD = log(4, 1, 70), log(8, 71, 140), log(10, 141, 200)
ALL = (FIRST, SECOND, THIRD)
NAMED = (LogStart(4, 1), LogStart(8, 71), LogStart(10, 141))


@pytest.mark.parametrize(
    ("logs", "mark", "lowest", "expected"),
    [
        pytest.param(ALL, Mark(200, logs=NAMED), 0, Whole, id="all there"),
        pytest.param(ALL, Mark(150, logs=NAMED), 0, Whole, id="more than was synced"),
        pytest.param(ALL, None, 0, Whole, id="no mark"),
        pytest.param((), Mark(200), 0, Whole, id="no logs: all is in sorted files"),
        pytest.param((log(12),), Mark(200), 0, Whole, id="an empty log after a clean close"),
        pytest.param((*ALL, log(12)), Mark(200, logs=NAMED), 0, Whole, id="a new log without a record"),
        pytest.param((FIRST, log(6), SECOND, THIRD), Mark(200, logs=NAMED), 0, Whole, id="a start cut short"),
        pytest.param((SECOND, THIRD), Mark(200, logs=NAMED), 0, Damaged, id="the first is missing"),
        pytest.param((FIRST, THIRD), Mark(200), 0, Damaged, id="a gap that the mark does not name"),
        pytest.param((FIRST, THIRD), None, 0, Damaged, id="a gap in a store without a mark"),
        pytest.param((FIRST, SECOND), Mark(200), 0, Damaged, id="the last is missing"),
        pytest.param((log(4), SECOND, THIRD), Mark(200, logs=NAMED), 0, Damaged, id="the first is empty"),
        pytest.param((log(4, 2, 70), SECOND, THIRD), Mark(200, logs=NAMED), 0, Damaged, id="another log"),
        pytest.param(
            (FIRST, log(8, 71, 139), THIRD), Mark(200, logs=NAMED), 0, Damaged, id="cut in the middle"
        ),
        pytest.param(
            (FIRST, SECOND, log(10, 141, 199)), Mark(200, logs=NAMED), 0, Damaged, id="cut at the end"
        ),
        pytest.param(
            (FIRST, SECOND, log(10, 141, 199, gap=True)), Mark(200, logs=NAMED), 0, Damaged, id="a hole"
        ),
        pytest.param((THIRD,), Mark(200, logs=NAMED), 9, Whole, id="the missing ones are obsolete"),
        pytest.param((FIRST, THIRD), Mark(200, logs=NAMED), 9, Whole, id="an obsolete one is still there"),
        pytest.param((FIRST, SECOND), Mark(200, logs=NAMED), 9, Damaged, id="only obsolete ones are there"),
        pytest.param((FIRST, THIRD), Mark(70), 0, CutOff, id="a gap behind what was synced"),
        pytest.param((log(4, 1, 70, gap=True),), Mark(70), 0, CutOff, id="a hole behind what was synced"),
        pytest.param((log(4, 1, 70, gap=True), SECOND), Mark(70), 0, CutOff, id="and another log"),
    ],
)
def test_logs_get_the_expected_verdict(
    logs: tuple[Log, ...], mark: Mark | None, lowest: int, expected: type[Verdict]
) -> None:
    assert type(judge(logs, mark, lowest)) is expected


def test_the_sentence_names_the_log_and_the_numbers() -> None:
    mark = Mark(200, logs=NAMED)
    assert judge((FIRST, THIRD), mark) == Damaged("its log 000008.log is missing")
    assert judge((log(4), SECOND), mark) == Damaged(
        "its log 000004.log holds no change, and was written from change 1 on"
    )
    assert judge((FIRST, THIRD), Mark(200)) == Damaged(
        "its logs end at change 70, and the next is 141, but 200 changes had reached the disk"
    )


def test_logs_end_at_the_gap_after_a_cut(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number:06}.log" for number in (4, 8, 10)]
    for path in paths:
        path.write_bytes(b"x" * 500)
    cut_off(CutOff(Log(paths[0], 4, 1, 3, 300, True), (paths[1], paths[2])))
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"000004.log": 300}
    cut_off(CutOff(Log(paths[0], 4, 1, 3, 300, False), ()))
    assert paths[0].stat().st_size == 300

"""Tests that progress is shown now and then on a pipe, and always on a terminal."""

from __future__ import annotations

import io

from reliquary.spark.pipelines.progress import EVERY, Progress, Shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_come_at_most_so_often_for_each_step() -> None:
    now = 100.0
    stream = io.StringIO()
    with Shown(stream, lambda: now) as shown:
        now += 1
        shown.tell("silver", "batch 0", 500, lag=10)
        shown.tell("silver", "batch 1", 500)
        shown.tell("gold", "2026-11-15")
        now += EVERY
        shown.tell("silver", "batch 2", 200)
    assert stream.getvalue().splitlines() == [
        "silver  batch 0  500 rows  500 rows/s  10 to go",
        "gold  2026-11-15",
        "silver  batch 2  1,200 rows  200 rows/s",
    ]


def test_a_terminal_has_one_line_that_is_taken_away() -> None:
    stream = Terminal()
    with Shown(stream) as shown:
        shown.tell("silver", "batch 0", 500)
    assert stream.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K")


def test_expiry_needs_no_reader() -> None:
    with Progress() as quiet:
        quiet.tell("silver", "batch 0", 500)

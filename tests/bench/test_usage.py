"""Tests what a process has used, read from files as the kernel writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.usage import Usage, time_of, usage_of

TICKS = os.sysconf("SC_CLK_TCK")


def stat(name: str, user: int, system: int) -> str:
    """Return a line of /proc/PID/stat with this many ticks of the clock."""
    return f"4711 ({name}) S 1 2 3 0 -1 64 0 0 0 0 {user} {system} 0 0 20 0 1 0 9 8 7\n"


def process(folder: Path) -> Path:
    (folder / "stat").write_text(stat("python", 70 * TICKS, 30 * TICKS))
    (folder / "io").write_text("rchar: 500\nwchar: 2000\nsyscr: 1\nsyscw: 2\n")
    for number, (name, ticks) in enumerate({"python": 60, "rocksdb:low": 25, "rocksdb:high": 5}.items()):
        task = folder / "task" / str(number)
        task.mkdir(parents=True)
        (task / "stat").write_text(stat(name, ticks * TICKS, 0))
    return folder


def test_a_name_may_hold_brackets_and_spaces() -> None:
    assert time_of(stat("a) S (b", TICKS, 2 * TICKS)) == ("a) S (b", 3.0)


def test_the_threads_of_the_store_are_counted_apart_and_those_that_ended_are_not_lost(tmp_path: Path) -> None:
    used = usage_of(process(tmp_path))
    assert used == Usage(foreground=70.0, background=30.0, written=2000.0, read=500.0)
    assert used.processor == 100.0


def test_what_was_used_between_two_moments_is_shared_by_the_messages() -> None:
    cost = Usage(5.0, 3.0, 900.0, 50.0).since(Usage(1.0, 1.0, 100.0, 10.0)).each(4)
    assert cost == Usage(1.0, 0.5, 200.0, 10.0)


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="this system has no /proc")
def test_the_usage_of_this_process_is_above_zero() -> None:
    assert usage_of(Path("/proc/self")).processor > 0

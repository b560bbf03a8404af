"""The story of `./dev run`: what it counts, and in the long tier all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.story.flows import Flow

ROOT = Path(__file__).parents[2]


def flow(*arrived: str, sent: int = 3) -> Flow:
    return Flow("SRMP", "by-srmp", lambda _: None, sent, list(arrived))


def test_a_flow_counts_what_is_lost_doubled_and_out_of_order() -> None:
    good = flow("order 1", "order 2", "order 10")
    assert (good.lost, good.doubled, good.is_in_order) == (0, 0, True)
    bad = flow("order 2", "order 1", "order 1", sent=4)
    assert (bad.lost, bad.doubled, bad.is_in_order) == (2, 1, False)


def test_orders_are_numbered_from_one_part_to_the_next() -> None:
    seen: list[str] = []
    one = Flow("SRMP", "by-srmp", seen.extend)
    one.send_next(2)
    one.send_next(1)
    assert (seen, one.sent) == (["order 1", "order 2", "order 3"], 3)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_story_loses_nothing_is_played_once_and_ends_with_its_servers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.story", "--without-spark"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}

    def printed(last: str) -> list[str]:
        """Return the lines up to one that contains `last`; the process is ended then."""
        lines = []
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if last in line:
                    break
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0
        return lines

    lines = printed("Look around")
    rows = [line for line in lines if line.startswith("│")]
    assert len(rows) == 5
    cells = [[cell.strip() for cell in row.strip("│\n").split("│")] for row in rows]
    assert all(twice == lost == "0" and order == "yes" for *_, twice, lost, order in cells)
    assert "played before" in printed("played before")[-1]

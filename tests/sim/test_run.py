"""Tests a run as a whole: it can be repeated, names a broken promise, and prints the command that
repeats it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from reliquary.sim.__main__ import main
from reliquary.sim.history import Violation
from reliquary.sim.run import STEPS, simulate
from reliquary.sim.witness import Witness


def test_a_seed_gives_one_history() -> None:
    one, again, other = simulate(11), simulate(11), simulate(12)
    assert one == again
    assert one.digest != other.digest


def hashed_in_two_ways(code: str) -> set[str]:
    """Return what this code prints, in processes that hash strings differently."""
    return {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }


def test_a_seed_does_not_depend_on_how_strings_are_hashed() -> None:
    code = "from reliquary.sim.run import simulate; print(simulate(13, 200).digest)"
    assert len(hashed_in_two_ways(code)) == 1


def test_a_run_does_a_little_of_everything() -> None:
    reports = [simulate(seed) for seed in range(1, 9)]
    assert all(report.turns >= STEPS for report in reports)
    assert sum(report.processes for report in reports) > 16
    assert sum(report.failures for report in reports) > 0
    assert sum(report.received for report in reports) > 400
    assert sum(report.checkpoints for report in reports) > 24


def broken(*_: object) -> None:
    raise Violation("a checker saw something")


def test_a_failure_names_the_promise_and_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Witness, "checkpoint", broken)
    report = simulate(5)
    assert report.failure == "a checker saw something"
    assert report.command == "./dev sim --seed 5"
    assert simulate(5, 100).command == "./dev sim --seed 5 --steps 100"
    assert main(["--seed", "5"]) == 1
    assert "again: ./dev sim --seed 5" in capsys.readouterr().out


def test_a_machine_that_breaks_is_a_failure_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Witness, "batch_applied", lambda *_: 1 / 0)
    assert "ZeroDivisionError" in simulate(5).failure


def test_the_command_runs_seeds_and_prints_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "3", "--count", "2", "--steps", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == ["seed 3", "seed 4"]
    assert lines[2] == "2 seeds, 0 broken"


def test_the_command_can_print_every_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "3", "--steps", "50", "--verbose"]) == 0
    out = capsys.readouterr().out
    assert "turn 0 StartManager" in out
    assert "receives" in out

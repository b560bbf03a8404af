"""Measure how much of the rooms without I/O their own tests cover, and compare it with lower limits.

    layers of pyproject.toml      --> the rooms below `store`
    tests/<room>, tests/scenes    --> run under coverage.py: lines and branches, in the process of the tests
    tools/coverage_limits.toml    --> the percent that each room must reach; a figure there may only rise

`./dev coverage` fails when a room falls below its limit, and prints the line to write when it rose above it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.test_selection import pytest_command

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Path("tools/coverage_limits.toml")
FOLDER = ROOT / ".coverage"
TEST_TIMEOUT = 600
"""Seconds for one test: measuring makes it several times slower."""


def rooms_without_io(pyproject: str) -> list[str]:
    """Return the rooms that the import contract places below `store`, the lowest first."""
    contracts = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(each["layers"] for each in contracts if each["type"] == "layers")
    below = layers[layers.index("store") + 1 :]
    return [room.strip(" ()") for layer in reversed(below) for room in layer.split("|")]


def measure(rooms: Sequence[str]) -> Mapping[str, Any]:
    """Run the tests of the rooms under coverage.py and return its report; exit where a test fails."""
    python = Path(sys.executable)
    sources = ",".join(f"src/reliquary/{room}" for room in rooms)
    tests = [f"tests/{name}" for name in (*rooms, "scenes") if (ROOT / "tests" / name).exists()]
    pytest = pytest_command(python, ["-q", "-o", f"timeout={TEST_TIMEOUT}", *tests])[1:]
    report = FOLDER / "report.json"
    _coverage("erase")
    _coverage("run", f"--source={sources}", *pytest)
    _coverage("combine", "--quiet")
    _coverage("json", "--quiet", "-o", str(report))
    found: Mapping[str, Any] = json.loads(report.read_text())
    return found


def _coverage(*arguments: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "coverage", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)


def percent_of(rooms: Sequence[str], report: Mapping[str, Any]) -> dict[str, float]:
    """Return the percent of lines and branches that were run in each room, rounded down to a tenth."""
    found = {}
    for room in rooms:
        folder = f"src/reliquary/{room}/"
        summaries = [each["summary"] for path, each in report["files"].items() if path.startswith(folder)]
        covered = sum(each["covered_lines"] + each["covered_branches"] for each in summaries)
        whole = sum(each["num_statements"] + each["num_branches"] for each in summaries)
        found[room] = covered * 1000 // whole / 10
    return found


def compare(measured: Mapping[str, float], limits: Mapping[str, float]) -> tuple[list[str], bool]:
    """Return one line for each room, and whether all of them reach their limits."""
    lines, is_good = [], True
    for room, percent in measured.items():
        limit = limits.get(room)
        if limit is None:
            advice, is_good = f"has no limit: write `{room} = {percent}` into {LIMITS}", False
        elif percent < limit:
            advice, is_good = f"FELL below {limit}: test what was added", False
        elif percent > limit:
            advice = f"rose above {limit}: write `{room} = {percent}` into {LIMITS}"
        else:
            advice = "as before"
        lines.append(f"{room:<10} {percent:5.1f} %  {advice}")
    for room in limits.keys() - measured.keys():
        lines.append(f"{room:<10}          is no room below the store: remove it from {LIMITS}")
        is_good = False
    return lines, is_good


def main() -> int:
    """Measure the coverage, print it beside the limits, and return the exit code."""
    rooms = rooms_without_io((ROOT / "pyproject.toml").read_text())
    lines, is_good = compare(percent_of(rooms, measure(rooms)), tomllib.loads((ROOT / LIMITS).read_text()))
    print("\n".join(lines))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

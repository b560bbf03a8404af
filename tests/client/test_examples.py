"""The examples run, each in a folder of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
PRINTED = {
    "first_message.py": "received: one apple",
    "transaction.py": "still in orders: ['a unicorn']",
    "worker.py": "put aside: three ('three' is not a number)",
}


def test_every_example_is_known() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == set(PRINTED)
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in PRINTED)


def run(name: str) -> str:
    done = subprocess.run([sys.executable, str(FOLDER / name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs_in_process(name: str) -> None:
    assert PRINTED[name] in run(name)

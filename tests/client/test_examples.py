"""The examples run, each in a folder of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.postgres import postgres

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
RUN_ELSEWHERE = {"lake-pipeline": "tests/spark/pipelines/test_declarative.py"}
"""Examples that are folders, and the test that runs each."""
PRINTED = {
    "first_message.py": "received: one apple",
    "transaction.py": "still in orders: ['a unicorn']",
    "worker.py": "put aside: three ('three' is not a number)",
    "two_managers.py": "the warehouse received: order ten",
    "remote_agent.py": "the shop has 3 thanks",
    "exactly_once_sqlite.py": "in the queue: ['apples owe 3', 'plums owe 7']",
}
SHARED = {"local_server.py"}
"""Files that are no programs: others import them."""
TOO_LONG = 40
WITH_POSTGRES = {"exactly_once_postgres.py": "in the queue: ['apples owe 3', 'plums owe 7']"}


def test_every_example_is_known() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == {*PRINTED, *WITH_POSTGRES, *SHARED}
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in (*PRINTED, *WITH_POSTGRES, *SHARED))
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(RUN_ELSEWHERE)
    assert all(f"`{test}`" in readme and (ROOT / test).exists() for test in RUN_ELSEWHERE.values())


def test_no_example_is_long() -> None:
    programs = FOLDER.rglob("*.py")
    assert [path.name for path in programs if len(path.read_text().splitlines()) >= TOO_LONG] == []


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(FOLDER / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs_in_process(name: str) -> None:
    assert PRINTED[name] in run(name)


@pytest.mark.needs("postgres")
@pytest.mark.parametrize("name", WITH_POSTGRES)
def test_an_example_runs_with_postgresql(name: str) -> None:
    with postgres() as where:
        assert WITH_POSTGRES[name] in run(name, where)

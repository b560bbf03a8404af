"""Tests further Pythons: which are found, which are tried, and what fails the command."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tools import pythons
from tools.environments import Environment, Interpreter, NotMade
from tools.pythons import Outcome, attempt, found, main, places, supported

ROOT = Path(__file__).parents[2]


def interpreter(version: str, path: str = "") -> Interpreter:
    return Interpreter(path or f"/bin/python-{version}", version, f"{version} (main)")


def test_the_classifiers_name_the_minor_versions() -> None:
    text = """
        [project]
        classifiers = ["Programming Language :: Python :: 3", "Programming Language :: Python :: 3.11",
                       "Programming Language :: Python :: 3.13", "Topic :: System :: Networking"]"""
    assert supported(text) == ["3.11", "3.13"]
    assert "3.11" in supported((ROOT / "pyproject.toml").read_text())


def test_the_path_comes_before_pyenv_and_there_the_newest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("3.12.1", "3.12.10", "3.12.9", "3.1.2", "3.13.0"):
        (tmp_path / "versions" / version).mkdir(parents=True)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr(shutil, "which", {"python3.12": "/bin/python3.12"}.get)
    pyenv = [str(tmp_path / "versions" / f"3.12.{patch}" / "bin" / "python3") for patch in (10, 9, 1)]
    assert [*places("3.12")] == ["/bin/python3.12", *pyenv]
    assert [*places("3.14")] == []


@pytest.mark.parametrize(
    ("on_path", "system", "expected"),
    [
        pytest.param(
            ["3.11.7", "3.12.1"], "3.11.2", ["3.11.7", "3.11.2", "3.12.1"], id="the system's is older"
        ),
        pytest.param(["3.11.2", "3.12.1"], "3.11.2", ["3.11.2", "3.12.1"], id="the system's is on the PATH"),
        pytest.param([], "3.12.3", ["3.12.3"], id="the system's alone"),
        pytest.param(["3.12.1"], "3.9.2", ["3.12.1"], id="the system's is too old"),
        pytest.param([], "", [], id="none"),
    ],
)
def test_one_of_each_version_is_found_and_the_systems_beside_it(
    monkeypatch: pytest.MonkeyPatch, on_path: list[str], system: str, expected: list[str]
) -> None:
    known = {f"/bin/python{each.rpartition('.')[0]}": interpreter(each) for each in on_path}
    if system:
        known[pythons.SYSTEM] = interpreter(system)
    monkeypatch.setattr(pythons, "interpreter_at", known.get)
    monkeypatch.setattr(pythons, "places", lambda minor: [f"/bin/python{minor}", "/nowhere"])
    assert [each.version for each in found(["3.11", "3.12"])] == expected


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> dict[str, Outcome]:
    """Return three Pythons, of which 3.11.7 runs ./dev; note those that are tried."""
    outcomes = {"3.11.2": Outcome.PASSED, "3.11.7": Outcome.PASSED, "3.12.1": Outcome.PASSED}
    monkeypatch.setattr(pythons, "supported", lambda text: ["3.11", "3.12", "3.13"])
    monkeypatch.setattr(pythons, "found", lambda minors: [interpreter(each) for each in outcomes])
    monkeypatch.setattr(pythons, "this_interpreter", lambda: interpreter("3.11.7"))
    monkeypatch.setattr(pythons, "attempt", lambda each: outcomes[each.version])
    monkeypatch.delenv("CI", raising=False)
    return outcomes


def test_all_are_tried_but_our_own_and_the_absent_ones_are_named(
    here: dict[str, Outcome], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Python 3.13: not on this machine",
        "Python 3.11.2: passed",
        "Python 3.12.1: passed",
    ]


@pytest.mark.parametrize(
    ("names", "tried"), [(["3.11"], ["3.11.2", "3.11.7"]), (["3.11.7"], ["3.11.7"]), (["3.12"], ["3.12.1"])]
)
def test_the_pythons_that_are_named_are_tried(
    here: dict[str, Outcome], capsys: pytest.CaptureFixture[str], names: list[str], tried: list[str]
) -> None:
    assert main(names) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [f"Python {each}: passed" for each in tried]


def test_a_name_that_is_not_here_is_refused(
    here: dict[str, Outcome], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["3.13"]) == 2
    assert capsys.readouterr().out == "none of these is here; there is 3.11.2, 3.11.7, 3.12.1\n"


@pytest.mark.parametrize(
    ("outcome", "ci", "code"),
    [
        (Outcome.FAILED, "", 1),
        (Outcome.FAILED, "true", 1),
        (Outcome.NO_ENVIRONMENT, "", 0),
        (Outcome.NO_ENVIRONMENT, "true", 1),
        (Outcome.PASSED, "true", 0),
    ],
)
def test_what_fails_the_command(
    here: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch, outcome: Outcome, ci: str, code: int
) -> None:
    here["3.11.2"] = outcome
    monkeypatch.setenv("CI", ci)
    assert main([]) == code


@pytest.mark.parametrize(("code", "outcome"), [(0, Outcome.PASSED), (1, Outcome.FAILED)])
def test_the_tests_run_in_an_environment_of_their_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int, outcome: Outcome
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **_: object) -> CompletedProcess[str]:
        ran.append(command)
        return CompletedProcess(command, code)

    monkeypatch.setattr(Environment, "ensure", lambda environment: None)
    monkeypatch.setattr(subprocess, "run", run)
    assert attempt(interpreter("3.12.1")) is outcome
    assert capsys.readouterr().out == "Python 3.12.1 (.venvs/3.12.1)\n"
    (command,) = ran
    assert command[0] == str(ROOT / ".venvs" / "3.12.1" / "bin" / "python")
    assert "--ignore=tests/e2e" in command


def test_an_environment_that_cannot_be_made_is_an_outcome_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Environment) -> None:
        raise NotMade("no wheels")

    monkeypatch.setattr(Environment, "ensure", fail)
    assert attempt(interpreter("3.12.1")) is Outcome.NO_ENVIRONMENT
    assert capsys.readouterr().out == "no wheels\n"

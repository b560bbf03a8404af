"""Tests environments: made once, made anew when something changed, and a reason where they cannot be made."""

from __future__ import annotations

import fcntl
import json
import platform
import shutil
import sys
from pathlib import Path

import pytest

from tools import environments, system_packages
from tools.environments import (
    Environment,
    Interpreter,
    NotMade,
    first_failure,
    interpreter_at,
    this_interpreter,
)

SOME = Interpreter("/somewhere/python3", "3.12.1", "3.12.1 (main) [GCC]")


class Project:
    """A project in a folder of its own, in which no step is run."""

    def __init__(self, root: Path) -> None:
        self.steps: list[list[str]] = []
        self.failing = ""
        self.lock = root / "requirements.lock"
        self.lock.write_text("one==1.0\n")
        (root / "requirements-spark.lock").write_text("spark==4.0\n")
        project = {"version": "0.1", "scripts": {}}
        (root / "pyproject.toml").write_text(
            "[project]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in project.items())
        )
        self.environment = Environment(root / ".venvs" / "3.12.1", SOME)

    def first_failure(self, steps: list[list[str]]) -> str:
        for step in steps:
            self.steps.append(step)
            if self.failing and self.failing in " ".join(step):
                return f"{self.failing} failed"
        self.environment.folder.mkdir(parents=True, exist_ok=True)
        return ""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path)
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(environments, "LOCK", made.lock)
    monkeypatch.setattr(environments, "SPARK_LOCK", tmp_path / "requirements-spark.lock")
    monkeypatch.setattr(environments, "first_failure", made.first_failure)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(system_packages, "provide", lambda needs: [])
    return made


def test_an_environment_is_made_once_and_says_with_which_python(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.environment.ensure()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("making .venvs/3.12.1 from requirements.lock with Python 3.12.1 (once")
    assert project.steps[0] == [SOME.path, "-m", "venv", str(project.environment.folder)]
    assert [step[-2:] for step in project.steps[1:]] == [
        ["--requirement", str(project.lock)],
        ["--editable", str(environments.ROOT)],
    ]
    project.environment.ensure()
    assert len(project.steps) == 3
    assert capsys.readouterr().out == ""


def test_an_environment_is_made_anew_when_the_lock_changes(project: Project) -> None:
    project.environment.ensure()
    project.lock.write_text("one==1.1\n")
    project.environment.ensure()
    assert len(project.steps) == 6


def test_an_environment_is_made_anew_when_the_interpreter_changes(project: Project) -> None:
    project.environment.ensure()
    rebuilt = Interpreter(SOME.path, SOME.version, "3.12.1 (main) [Clang]")
    Environment(project.environment.folder, rebuilt).ensure()
    assert len(project.steps) == 6


def test_uv_is_preferred_and_pip_is_tried_after_uv(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    project.environment.ensure()
    assert [step[0] for step in project.steps] == ["uv", "uv", "uv"]
    project.steps.clear()
    project.lock.write_text("one==1.1\n")
    project.failing = "uv pip"
    project.environment.ensure()
    programs = [Path(step[0]).name for step in project.steps]
    assert programs == ["uv", "uv", "python3", "python", "python"]


def test_a_package_index_that_does_not_answer_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "ERROR: Could not find a version that satisfies the requirement one==1.0 (from versions: none)"
    monkeypatch.setattr(environments, "first_failure", lambda steps: said)
    with pytest.raises(NotMade, match="no package index answers; check the network"):
        project.environment.ensure()


def test_an_environment_that_cannot_be_made_is_not_taken_for_made(project: Project) -> None:
    project.failing = "--requirement"
    with pytest.raises(NotMade, match=r"--requirement failed\ncould not make \.venvs/3\.12\.1"):
        project.environment.ensure()
    project.failing = ""
    project.environment.ensure()
    assert len(project.steps) == 5


def test_a_python_that_cannot_make_environments_is_a_reason(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_packages, "provide", list)
    with pytest.raises(NotMade):
        project.environment.ensure()
    assert project.steps == []


def test_spark_is_added_once(project: Project) -> None:
    project.environment.ensure()
    del project.steps[:]
    project.environment.ensure_spark()
    project.environment.ensure_spark()
    assert [step[-1] for step in project.steps] == [str(environments.SPARK_LOCK)]
    environments.SPARK_LOCK.write_text("spark==4.1\n")
    project.failing = "--requirement"
    with pytest.raises(NotMade, match="could not add Spark"):
        project.environment.ensure_spark()


def test_the_first_step_that_fails_is_reported_with_its_output() -> None:
    failing = [sys.executable, "-c", "print('because'); exit(3)"]
    failure = first_failure([[sys.executable, "-c", ""], failing, ["never run"]])
    assert failure.startswith("because\nthis failed: ")
    assert first_failure([[sys.executable, "-c", ""]]) == ""


def test_an_interpreter_is_described_by_itself(tmp_path: Path) -> None:
    here = this_interpreter()
    assert (here.version, here.build) == (platform.python_version(), sys.version)
    assert here.minor == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert interpreter_at(sys.executable) == here  # inside an environment: the one that it was made with
    assert interpreter_at(str(tmp_path / "none")) is None
    assert interpreter_at("/bin/false") is None


def test_an_environment_is_used_while_another_is_being_made(project: Project) -> None:
    project.environment.ensure()
    project.environment.ensure_spark()
    with project.lock.open() as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        project.environment.ensure()
        project.environment.ensure_spark()

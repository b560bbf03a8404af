"""`./dev`: what it says to a newcomer, to a typing error, to an old Python; and the pytest call it makes."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
DEV = ROOT / "dev"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, DEV, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dev() -> ModuleType:
    loader = SourceFileLoader("dev_script", str(DEV))
    spec = spec_from_loader("dev_script", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_alone_it_prints_help(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 0
    assert done.stdout.startswith("usage: ./dev COMMAND")


def test_an_unknown_command_gets_the_help_and_exit_code_2() -> None:
    done = run("chekc")
    assert done.returncode == 2
    assert done.stderr.startswith("./dev has no command 'chekc'\n\nusage:")


def test_the_help_names_every_command(dev: ModuleType) -> None:
    assert [name for name in dev.COMMANDS if f"\n  {name} " not in dev.HELP] == []


def test_an_old_python_reads_one_sentence() -> None:
    pretend = (
        f"import sys; sys.version_info = (3, 10, 12); exec(compile(open({str(DEV)!r}).read(), 'dev', 'exec'))"
    )
    done = subprocess.run([sys.executable, "-c", pretend], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "./dev needs Python 3.11 or newer; this is 3.10.\n"


def test_an_old_python_gets_as_far_as_that_sentence() -> None:
    ast.parse(DEV.read_text(), feature_version=(3, 7))


@pytest.mark.parametrize(
    ("given", "has", "has_not"),
    [
        pytest.param([], ["-m", "not long", "-n"], [], id="the short tier in parallel"),
        pytest.param(["--all"], ["-n"], ["-m not long", "--all"], id="all tiers"),
        pytest.param(
            ["tests/store", "-k", "crash"], ["not long", "tests/store -k crash"], [], id="a few tests"
        ),
        pytest.param(["-n0"], ["not long", "-n0"], ["worksteal"], id="one process"),
        pytest.param(["--pdb"], ["--pdb"], ["worksteal"], id="a debugger needs one process"),
        pytest.param(["-m", "long"], ["-m long"], ["not long"], id="marks of one's own"),
    ],
)
def test_the_pytest_call(dev: ModuleType, given: list[str], has: list[str], has_not: list[str]) -> None:
    call = " ".join(dev.pytest_command(given)[3:])
    assert [part for part in has if part not in call] == []
    assert [part for part in has_not if part in call] == []


def test_the_environment_is_made_anew_when_the_lock_changes(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dev.wanted()
    changed = tmp_path / "requirements.lock"
    changed.write_text((ROOT / "requirements.lock").read_text() + "one-more==1.0\n")
    monkeypatch.setattr(dev, "LOCK", changed)
    assert dev.wanted() != before


def test_check_runs_every_step_and_names_those_that_failed(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "CHECKS", {"good": ["true"], "bad": ["false"], "also good": ["true"]})
    monkeypatch.setattr(dev, "test", lambda arguments: 0)
    assert dev.check([]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if " s" in line and " ok " in line] == ["good", "also"]
    assert lines[-1] == "FAILED: bad"

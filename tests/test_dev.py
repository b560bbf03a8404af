"""Tests `./dev`: what it says to a newcomer, to a typing error, to an old Python; and what it makes
beforehand.
"""

from __future__ import annotations

import ast
import os
import platform
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
def test_dev_without_arguments_prints_help(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 0
    assert done.stdout.startswith("usage: ./dev COMMAND")


@pytest.mark.parametrize(
    ("word", "said"), [("chekc", "did you mean check?"), ("zzz", "these are setup, run, ")]
)
def test_an_unknown_command_gets_the_names_of_others_and_exit_code_2(word: str, said: str) -> None:
    done = run(word)
    assert done.returncode == 2
    assert done.stderr.startswith(f"./dev has no command '{word}'; {said}")


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
    ("line", "expected"),
    [
        ("setup", False),
        ("setup --spark", True),
        ("check", True),
        ("test", True),
        ("test -k crash", True),
        ("test tests/spark/test_rows.py", True),
        ("test tests/base tests/cli", True),
        ("test tests/base tests/cli/test_main.py::test_the_version_is_reported", False),
        ("bench spark", True),
        ("bench audit", True),
        ("bench queue", False),
        ("bench peers", False),
        ("bench", False),
        ("bench nonsense", False),
        ("coverage", False),
        ("docs --check", False),
        ("fix", False),
        ("sim --seed 7", False),
        ("run", False),
        ("lock", False),
    ],
)
def test_spark_is_installed_only_for_what_needs_it(dev: ModuleType, line: str, expected: bool) -> None:
    command, *arguments = line.split()
    assert dev.needs_spark(command, arguments) is expected


def test_a_benchmark_is_a_file_or_a_folder_that_can_be_run(dev: ModuleType) -> None:
    assert {"queue", "peers"} <= set(dev.benches())
    assert not {"results", "__init__", "__pycache__"} & set(dev.benches())


@pytest.fixture
def made(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records what is made of the environment in place of making it; no command does anything."""
    steps: list[str] = []

    class Recorder:
        interpreter = dev.VENV.interpreter
        name = dev.VENV.name

        def ensure(self) -> None:
            steps.append("environment")

        def ensure_spark(self) -> None:
            steps.append("Spark")

    monkeypatch.setattr(dev, "VENV", Recorder())
    monkeypatch.setattr(dev, "COMMANDS", dict.fromkeys(dev.COMMANDS, lambda arguments: 0))
    return steps


@pytest.mark.parametrize("command", ["test", "check", "bench", "coverage"])
def test_what_takes_long_says_which_python_runs_it(
    dev: ModuleType, made: list[str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert dev.main([command]) == 0
    assert made[0] == "environment"
    assert capsys.readouterr() == ("", f"Python {platform.python_version()} (.venv)\n")


@pytest.mark.parametrize("command", ["run", "docs", "sim"])
def test_other_commands_print_only_their_own_output(
    dev: ModuleType, made: list[str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert dev.main([command]) == 0
    assert made == ["environment"]
    assert capsys.readouterr() == ("", "")


def test_other_pythons_need_no_environment_of_this_one(dev: ModuleType, made: list[str]) -> None:
    assert dev.main(["pythons"]) == 0
    assert made == []


def test_an_environment_that_cannot_be_made_ends_the_command_with_the_reason(
    dev: ModuleType, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise dev.NotMade("no network\ncould not make .venv")

    monkeypatch.setattr(dev.VENV, "ensure", fail)
    with pytest.raises(SystemExit) as ended:
        dev.main(["test"])
    assert ended.value.code == "no network\ncould not make .venv"


def test_an_interrupt_is_one_sentence(
    dev: ModuleType, made: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for place in (dev.VENV, "ensure"), (dev.COMMANDS, "run"):
        with monkeypatch.context() as patch:
            if isinstance(place[0], dict):
                patch.setitem(*place, interrupt)
            else:
                patch.setattr(*place, interrupt)
            assert dev.main(["run"]) == 130
        said = "\n./dev was interrupted. The next command makes anew what is half made.\n"
        assert capsys.readouterr() == ("", said)


def test_setup_takes_one_option(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert [dev.setup([]), dev.setup(["--spark"]), dev.setup(["--sparc"])] == [0, 0, 2]
    assert capsys.readouterr().err == "usage: ./dev setup [--spark]\n"


def test_a_run_becomes_the_story(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[tuple[str, ...]] = []
    monkeypatch.setattr(dev, "become", lambda *command: became.append(command))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    dev.serve(["--bare"])
    assert became == [(str(dev.PYTHON), "-m", "tools.story", "--bare")]
    assert os.environ["PYTHONPATH"] == str(ROOT)


def test_check_runs_every_step_and_names_those_that_failed(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "CHECKS", {"good": ["true"], "bad": ["false"], "also good": ["true"]})
    monkeypatch.setattr(dev, "test", lambda arguments: 0)
    assert dev.check([]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if " s" in line and " ok " in line] == ["good", "also"]
    assert lines[-1] == "FAILED: bad"

"""Tests which tests a command runs, and with which pytest call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.test_selection import ROOT, SERVERS, mentions_spark, pytest_command, without_servers


@pytest.mark.parametrize(
    ("given", "has", "has_not"),
    [
        pytest.param([], ["-m", "not long", "-n"], [], id="the short tier in parallel"),
        pytest.param(["--all"], ["-n"], ["-m not long", "--all"], id="all tiers"),
        pytest.param(
            ["tests/store", "-k", "crash"], ["not long", "tests/store -k crash"], [], id="a few tests"
        ),
        pytest.param(["-n0"], ["not long", "-n0"], ["loadgroup"], id="one process"),
        pytest.param(["--pdb"], ["--pdb"], ["loadgroup"], id="a debugger needs one process"),
        pytest.param(["-m", "long"], ["-m long"], ["not long"], id="marks of one's own"),
    ],
)
def test_the_arguments_decide_on_the_pytest_call(
    given: list[str], has: list[str], has_not: list[str]
) -> None:
    python, *call = pytest_command(Path("bin/python"), given)
    assert python == "bin/python"
    text = " ".join(call[2:])
    assert [part for part in has if part not in text] == []
    assert [part for part in has_not if part in text] == []


def test_tests_that_start_processes_need_spark_or_search_seeds_are_left_out() -> None:
    everything, *ignored = without_servers()
    assert everything == "tests"
    assert {f"--ignore=tests/{folder}" for folder in SERVERS} < {*ignored}
    assert "--ignore=tests/cli/test_pipeline.py" in ignored  # it needs Spark
    assert "--ignore=tests/client/test_feed.py" in ignored  # it kills a server
    assert "--ignore=tests/client/test_remote.py" not in ignored  # its server is a thread of the test
    assert all(any(each.endswith(name) for each in ignored) for name in ("test_seeds.py", "test_mutants.py"))
    assert not any(each.endswith("test_run.py") for each in ignored)  # it plays a few seeds
    assert [each for each in ignored if not (ROOT / each.removeprefix("--ignore=")).exists()] == []


def test_spark_is_found_in_a_file_and_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "test_one.py").write_text("from reliquary." + "spark import rows\n")
    (tmp_path / "test_two.py").write_text("import reliquary\n")
    assert mentions_spark(tmp_path)
    assert mentions_spark(tmp_path / "inner" / "test_one.py")
    assert not mentions_spark(tmp_path / "test_two.py")

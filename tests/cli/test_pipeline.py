"""Tests `reliquary pipeline`: what is refused before Spark starts, and what is shown without it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reliquary.base import faults
from reliquary.cli.main import cli
from reliquary.cli.pipeline import EXITS, sentence_of
from reliquary.server.exits import Exit
from reliquary.spark import errors
from reliquary.spark.pipelines.tables import write_state


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["pipeline", *map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["run", "lake"], "needs queues or a history"),
        (["run", "lake", "--queue", "a", "--format", "csv"], "parquet or delta"),
        (["run", "lake", "--queue", "a", "--continuous", "soon"], "is not a time"),
        (["run", "lake", "--queue", "a", "--history", "nowhere"], "this folder does not exist"),
        (["run", "lake", "--queue", "a", "--config", "nowhere.toml"], "there is no file"),
        (["run", "lake", "--queue", "a", "--json-schema", "nowhere"], "--json-schema"),
        (["run", "lake", "--queue", "a", "--token-file", "nowhere"], "--token-file"),
        (["run", "lake", "--queue", "a", "--conf", "memory"], "--conf is KEY=VALUE"),
        (["run", "replay", "--from", "lake"], "--to-queue"),
        (["run", "replay", "--from", "lake", "--to-queue", "b", "--since", "noon"], "--since is a time"),
        (["run", "replay", "--from", "lake", "--to-queue", "b", "--layer", "gold"], "bronze or silver"),
        (["show", "nowhere"], "is no lake"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_starts(arguments: list[str], why: str) -> None:
    result = run(*arguments)
    assert result.exit_code == Exit.USAGE
    assert why in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_without_spark_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    result = run("run", "lake", "--queue", "orders", "--lake", tmp_path / "lake")
    assert result.exit_code == Exit.USAGE
    assert "pip install 'reliquary[spark]'" in result.stderr
    assert not (tmp_path / "lake").exists()


def test_a_lake_of_another_format_and_a_folder_of_other_things_are_refused_before_spark_starts(
    tmp_path: Path,
) -> None:
    write_state(tmp_path / "lake" / "_lake.json", {"version": 1, "id": "x", "format": "parquet"})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letters.txt").write_text("mine")
    for name, why in (("lake", "is kept as parquet, not as delta"), ("other", "is not empty and no lake")):
        result = run("run", "lake", "--queue", "a", "--lake", tmp_path / name, "--format", "delta")
        assert (result.exit_code, len(result.stderr.splitlines())) == (Exit.USAGE, 1)
        assert why in result.stderr


def test_a_lake_is_shown_without_spark(tmp_path: Path) -> None:
    write_state(tmp_path / "_lake.json", {"version": 1, "id": "x", "format": "parquet"})
    write_state(tmp_path / "bronze" / "messages" / "batch=0" / "_commit.json", {"by": "q", "rows": 7})
    rows = {row["table"]: row for row in map(json.loads, run("show", tmp_path).output.splitlines())}
    assert (rows["bronze/messages"]["batches"], rows["bronze/messages"]["rows"]) == (1, 7)
    assert rows["gold/flow"]["rows"] == 0
    assert "bronze/messages" in run("show", tmp_path, "--table").output


@pytest.mark.parametrize(
    ("printed", "code", "sentence"),
    [
        (
            "[STREAM_FAILED] failed\n  File x\nreliquary.spark.errors.ServerGone: no server\n\nJVM",
            Exit.UNREACHABLE,
            "no server",
        ),
        ("a\nreliquary.spark.errors.BadOption: no option quue\n", Exit.USAGE, "no option quue"),
        ("reliquary.spark.errors.TokenRefused: who are you\n", Exit.REFUSED, "who are you"),
        ("[OUT_OF_MEMORY] no more\nmore", Exit.FAILED, "[OUT_OF_MEMORY] no more"),
    ],
)
def test_what_spark_tells_becomes_one_sentence(printed: str, code: Exit, sentence: str) -> None:
    assert sentence_of(printed) == (code, sentence)


def test_every_failure_that_has_a_code_of_its_own_exists() -> None:
    kinds = {name for module in (faults, errors) for name in vars(module)}
    assert kinds >= EXITS.keys()

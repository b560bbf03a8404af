"""Tests the options of the audit."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from reliquary.cli.pipeline_audit import EXITS, audit_options
from reliquary.server.exits import Exit
from reliquary.spark.pipelines.audit.verdicts import Verdict


@click.command()
@audit_options
def command(**given: Any) -> None:
    click.echo(repr(sorted(given.items())))


def test_spans_and_routes_are_read() -> None:
    words = [
        "--history",
        "a",
        "--history",
        "b",
        "--out",
        "o",
        "--late",
        "90s",
        "--route",
        "DIRECT=HTTP://x/y=beta",
    ]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    for part in (
        "('late', 90.0)",
        "('doubt', 3600.0)",
        "('grace', 300.0)",
        "(('DIRECT=HTTP://x/y', 'beta'),)",
    ):
        assert part in done.output
    assert "('history', ('a', 'b'))" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "o"], "--history"),
        (["--history", "a"], "--out"),
        (["--history", "a", "--out", "o", "--late", "soon"], "not a time"),
        (["--history", "a", "--out", "o", "--route", "beta"], "not NAME=MANAGER"),
    ],
)
def test_bad_options_are_refused_by_name(words: list[str], said: str) -> None:
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 2
    assert said in done.output


def test_every_verdict_has_its_exit_code() -> None:
    assert set(EXITS) == set(Verdict)
    assert EXITS[Verdict.PROVEN] is Exit.OK
    assert len(set(EXITS.values())) == 3

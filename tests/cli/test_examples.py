"""Examples in help texts."""

from __future__ import annotations

import click
from click.testing import CliRunner

from reliquary.cli.examples import examples


@click.command()
@examples("tool one", "tool two")
def tool() -> None:
    """Do it."""


def test_each_stands_on_its_own_line() -> None:
    output = CliRunner().invoke(tool, ["--help"]).output
    assert "Do it.\n\n  Examples:\n    tool one\n    tool two\n" in output

"""Tests that examples in help texts stand on lines of their own."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from reliquary.cli.examples import examples

INDENTED = "Do it.\n\n    Do it well.\n    "
DEDENTED = "Do it.\n\nDo it well.\n"


@pytest.mark.parametrize("docstring", [INDENTED, DEDENTED], ids=["Python 3.12", "Python 3.13"])
def test_each_stands_on_its_own_line_whichever_python_compiled_the_docstring(docstring: str) -> None:
    def tool() -> None: ...

    tool.__doc__ = docstring
    command = click.command(examples("tool one", "tool two")(tool))
    output = CliRunner().invoke(command, ["--help"]).output
    assert "\n  Do it.\n\n  Do it well.\n\n  Examples:\n    tool one\n    tool two\n\nOptions:" in output

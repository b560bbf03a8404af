"""Tests the root of the command line: help for a newcomer, the version, where the server is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from reliquary import Manager
from reliquary.cli.main import cli
from reliquary.server.exits import Exit
from tests.client.served import Served
from tools import cli_reference

ROOT = Path(__file__).parents[2]


def every(command: click.Command, path: str = "reliquary") -> list[tuple[str, click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            found += every(below, f"{path} {name}")
    return found


COMMANDS = every(cli)


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[path for path, _ in COMMANDS])
def test_every_command_has_help_that_shows_how_it_is_called(path: str, command: click.Command) -> None:
    result = CliRunner().invoke(cli, [*path.split()[1:], "--help"], prog_name="reliquary")
    assert result.exit_code == 0
    assert f"Usage: {path}" in result.output
    if not isinstance(command, click.Group):
        assert "Examples:\n    " in result.output
        assert path in result.output.partition("Examples:")[2]
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{path} {option.name} has no help"


def test_the_reference_page_is_current() -> None:
    page = cli_reference.page(ROOT)
    assert (ROOT / cli_reference.PAGE).read_text() == page, "run ./dev docs"


def test_the_version_is_reported() -> None:
    result = CliRunner().invoke(cli, ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith("reliquary ")


def test_the_command_line_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reliquary.cli.main", "queue", "create"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == Exit.USAGE
    assert done.stderr == "reliquary: Missing argument 'NAME'. Try 'reliquary queue create --help'.\n"


def test_the_server_can_be_named_on_the_line(qm: Manager, shared_server: Served) -> None:
    qm.create_queue("orders")
    where = ["--server", shared_server.data, "--control", shared_server.control]
    result = CliRunner().invoke(cli, [*where, "queue", "list", "--table"])
    assert "orders" in result.output


def test_help_costs_no_client() -> None:
    """The command line starts fast because the rooms below are imported when they are needed."""
    code = "import sys, reliquary.cli.main; print('reliquary.client.remote' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_help_about_a_noun_costs_no_machine() -> None:
    code = """
import sys
from reliquary.cli.administration import groups
assert "channel" in groups({})
heavy = {"asyncio", "reliquary.queueing.model.state", "reliquary.client.remote"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

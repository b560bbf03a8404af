"""Tests the command line's reference: every command that can be seen, with its help."""

from __future__ import annotations

from pathlib import Path

import click

from tools import cli_reference


@click.group()
def tool() -> None:
    """Do things with queues of a tool."""


@tool.group()
def queue() -> None:
    """Make queues and list them."""


@queue.command()
@click.argument("name")
def create(name: str) -> None:
    """Make a queue."""


@tool.command(hidden=True)
def secret() -> None:
    """Do something that the page must not show."""


def test_groups_come_before_their_commands_and_hidden_ones_not_at_all() -> None:
    pages = dict(cli_reference.help_texts(tool, "tool"))
    assert list(pages) == ["tool", "tool queue", "tool queue create"]
    assert pages["tool queue create"].startswith("Usage: tool queue create [OPTIONS] NAME")


def test_without_a_command_line_there_is_no_page(tmp_path: Path) -> None:
    assert cli_reference.page(tmp_path) is None

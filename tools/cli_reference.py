"""The command line's reference page, made from its own --help texts."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import click

PAGE = Path("docs/reference/cli.md")
WIDTH = 100


def page(root: Path) -> str | None:
    """Return the whole page, or None while there is no command line."""
    if not (root / "src/reliquary/cli/main.py").exists():
        return None
    command: click.Command = importlib.import_module("reliquary.cli.main").cli
    lines = ["# The command line", "", "<!-- Made by `./dev docs` from the --help texts. -->", ""]
    for path, help_text in help_texts(command, "reliquary"):
        lines += [f"## {path}", "", "```text", help_text, "```", ""]
    return "\n".join(lines[:-1]) + "\n"


def help_texts(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    """Yield each command with its help, a group before its commands, all in order of their names."""
    context = click.Context(command, info_name=path, max_content_width=WIDTH, terminal_width=WIDTH)
    yield path, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from help_texts(below, f"{path} {name}")

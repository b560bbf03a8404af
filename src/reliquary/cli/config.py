"""`reliquary config`: check settings before a server runs with them, and show what is in force."""

from __future__ import annotations

import os
from pathlib import Path

import click

from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_json, wants_json

_file = click.option(
    "--settings",
    "file",
    envvar="RELIQUARY_SETTINGS",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with settings.",
)


@click.group()
def config() -> None:
    """Check the settings of a server, and show what is in force."""


@config.command()
@_file
@examples("reliquary config check --settings reliquary.toml")
def check(file: Path | None) -> None:
    """Read the settings as `reliquary serve` would, and say what is wrong with them.

    An error names the file, the line and the setting; the exit code is 2 then.  Nothing is started.
    """
    from reliquary.server.loading import load

    load(file, os.environ)
    click.echo("the settings are valid")


@config.command()
@_file
@click.option("--effective", is_flag=True, help="Show all settings, with the defaults.")
@format_option
@examples(
    "reliquary config show --settings reliquary.toml",
    "reliquary config show --effective",
)
def show(file: Path | None, effective: bool, as_json: bool | None) -> None:
    """Show the settings that are in force, and where each one comes from.

    Without --effective, only those that the file and the environment give.  Secrets are not shown.
    """
    from reliquary.server.effective import entries, text_of
    from reliquary.server.loading import load_with_origins
    from reliquary.server.origins import DEFAULT

    found = [
        each for each in entries(load_with_origins(file, os.environ)) if effective or each.origin != DEFAULT
    ]
    if wants_json(as_json):
        print_json(each._asdict() for each in found)
    else:
        click.echo(text_of(found) if found else "# all settings have their defaults", nl=not found)

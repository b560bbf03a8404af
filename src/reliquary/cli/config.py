"""`reliquary config`: check settings, show what is in force, and let a server read them anew."""

from __future__ import annotations

import os
from pathlib import Path

import click

from reliquary.cli.connection import connected
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

set_option = click.option(
    "--set",
    "chosen",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting by its name in the file, such as history.keep_days=7; wins over the environment.",
)


@click.group()
def config() -> None:
    """Check the settings of a server, show those in force, and reload them."""


@config.command()
@_file
@set_option
@examples("reliquary config check --settings reliquary.toml")
def check(file: Path | None, chosen: tuple[str, ...]) -> None:
    """Check the settings that `reliquary serve` would use, and print their errors.

    Certificates, keys and tokens in files are read too, so run it as the user of the server.  An error
    names the file, the line and the setting; the exit code is 2 then.  A folder of messages that every user
    of the computer can enter is a warning.  Nothing is started.
    """
    from reliquary.server.cautions import open_folders
    from reliquary.server.files import load_checked

    settings = load_checked(file, os.environ, chosen=chosen)
    click.echo("the settings are valid")
    for caution in open_folders(settings):
        click.echo(caution, err=True)


@config.command()
@_file
@set_option
@click.option("--effective", is_flag=True, help="Show all settings, with the defaults.")
@format_option
@examples(
    "reliquary config show --settings reliquary.toml",
    "reliquary config show --effective",
)
def show(file: Path | None, chosen: tuple[str, ...], effective: bool, as_json: bool | None) -> None:
    """Show the settings that are in force, and where each one comes from.

    Without --effective, only those that the file and the environment give.  Secrets are not shown.
    """
    from reliquary.server.effective import entries, text_of
    from reliquary.server.loading import load_with_origins
    from reliquary.server.origins import DEFAULT

    loaded = load_with_origins(file, os.environ, chosen=chosen)
    found = [each for each in entries(loaded) if effective or each.origin != DEFAULT]
    if wants_json(as_json):
        print_json(each._asdict() for each in found)
    else:
        click.echo(text_of(found) if found else "# all settings have their defaults", nl=not found)


@config.command()
@format_option
@examples("reliquary config reload")
def reload(as_json: bool | None) -> None:
    """Make a running server read its settings again, as SIGHUP does.

    What may change while it runs is in force then: users with their roles and tokens, rates, how long
    history and acts are kept, certificates, the level of the log, queues to create.  What needs a restart
    is named and left as it is.  Where the settings have an error, nothing changes, and the error names the
    line.
    """
    with connected() as manager:
        report = manager.reload()
    if wants_json(as_json):
        print_json([report])
        return
    click.echo(f"applied: {', '.join(report.applied) or 'nothing has changed'}")
    if report.restart:
        click.echo(f"with the next start: {', '.join(report.restart)}")
    for note in report.notes:
        click.echo(note)

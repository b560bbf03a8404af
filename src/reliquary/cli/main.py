"""`reliquary`: the root of the command line."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from reliquary.cli import consumer, queue, transaction, writer
from reliquary.cli.access import access
from reliquary.cli.acts import acts
from reliquary.cli.administration import groups
from reliquary.cli.config import config
from reliquary.cli.connection import (
    CONTROL_VARIABLE,
    PASSWORD_FILE_VARIABLE,
    SERVER_VARIABLE,
    TOKEN_FILE_VARIABLE,
    TOKEN_VARIABLE,
    USER_VARIABLE,
    PlaneAddresses,
    chosen_way,
)
from reliquary.cli.directory import directory
from reliquary.cli.ending import Root
from reliquary.cli.examples import examples
from reliquary.cli.history import history
from reliquary.cli.manager import manager
from reliquary.cli.message import message
from reliquary.cli.pipeline import pipeline
from reliquary.cli.serve import serve
from reliquary.cli.store import store
from reliquary.cli.trace import trace
from reliquary.cli.user import user
from reliquary.cli.wait import wait
from reliquary.client.certificates import ClientCertificates


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    try:
        click.echo(f"reliquary {version('reliquary')}")
    except PackageNotFoundError:
        click.echo("reliquary, not installed")
    context.exit()


BY_HAND = {
    "consumer": consumer.COMMANDS,
    "queue": queue.COMMANDS,
    "transaction": transaction.COMMANDS,
    "writer": writer.COMMANDS,
}
"""Commands of nouns of administration that are not built from the declaration."""


class Commands(Root):
    """All commands; those of the nouns of administration are built when one of them is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in their order."""
        return sorted([*super().list_commands(ctx), *groups(BY_HAND)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name."""
        return super().get_command(ctx, cmd_name) or groups(BY_HAND).get(cmd_name)


@click.group(
    cls=Commands,
    context_settings={"max_content_width": 100},
)
@click.option(
    "--server",
    default="http://127.0.0.1:8480",
    show_default=True,
    envvar=SERVER_VARIABLE,
    show_envvar=True,
    metavar="URL",
    help="The server's data plane.",
)
@click.option(
    "--control",
    envvar=CONTROL_VARIABLE,
    show_envvar=True,
    metavar="URL",
    help="The URL of the control plane.  [default: the port after the server's]",
)
@click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    show_envvar=True,
    metavar="TOKEN",
    help="Your token at the server; other users of this computer see it in the process list.  "
    "[default: anonymous]",
)
@click.option(
    "--token-file",
    envvar=TOKEN_FILE_VARIABLE,
    show_envvar=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file that holds the token, and that only you can read.",
)
@click.option(
    "--user",
    envvar=USER_VARIABLE,
    show_envvar=True,
    metavar="NAME",
    help="Your user name, in place of a token.  The password is in the file of --password-file, in "
    "RELIQUARY_PASSWORD, or is asked for.",
)
@click.option(
    "--password-file",
    envvar=PASSWORD_FILE_VARIABLE,
    show_envvar=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file that holds the password of --user, and that only you can read.",
)
@click.option(
    "--ca-file",
    envvar="RELIQUARY_CA_FILE",
    show_envvar=True,
    metavar="FILE",
    help="A PEM file with the authorities that an https server is checked with.  [default: the system's]",
)
@click.option(
    "--certificate",
    envvar="RELIQUARY_CERTIFICATE",
    show_envvar=True,
    metavar="FILE",
    help="A PEM file with your certificate, for a server that asks for one.",
)
@click.option(
    "--key",
    envvar="RELIQUARY_KEY",
    show_envvar=True,
    metavar="FILE",
    help="A PEM file with its key, unless the file of the certificate holds it.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version.",
)
@click.pass_context
@examples(
    "reliquary serve",
    "reliquary queue create orders",
    'reliquary message send orders "hello"',
    "reliquary message receive orders",
    heading="Start a server, make a queue, send a message and get it back:",
)
def cli(
    context: click.Context,
    server: str,
    control: str | None,
    token: str | None,
    token_file: Path | None,
    user: str | None,
    password_file: Path | None,
    ca_file: str | None,
    certificate: str | None,
    key: str | None,
) -> None:
    """Reliquary, a reliable message queue manager.

    Lists are tables for a person and JSON lines to a pipe.  What goes wrong is one sentence on
    stderr, and the exit code has a meaning: 2 the command is wrong, 3 refused, 4 not found,
    5 no server, 6 no message, 10 and above the store.
    """
    way = chosen_way(context)
    has_files = any((ca_file, certificate, key))
    context.obj = PlaneAddresses(
        server,
        control,
        token if way == "token" else None,
        token_file if way == "token_file" else None,
        user if way == "user" else None,
        password_file,
        ClientCertificates(ca_file or "", certificate or "", key or "") if has_files else None,
    )


for command in (
    serve,
    message,
    directory,
    history,
    store,
    pipeline,
    manager,
    config,
    access,
    acts,
    user,
    wait,
):
    cli.add_command(command)

message.add_command(trace)


def main() -> None:
    """Run the command line and exit."""
    cli.main(prog_name="reliquary")


if __name__ == "__main__":
    main()

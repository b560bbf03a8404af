"""`reliquary manager`: the queue manager itself."""

from __future__ import annotations

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_record


@click.group()
def manager() -> None:
    """Show the queue manager, take it offline and bring it online."""


@manager.command()
@format_option
@examples("reliquary manager status")
def status(as_json: bool | None) -> None:
    """Show the name of the manager, its counts and whether it is online."""
    with connected() as connection:
        print_record(connection.info(), as_json)


@manager.command()
@format_option
@examples("reliquary manager offline")
def offline(as_json: bool | None) -> None:
    """Stop sending messages to other managers and receiving from them, until `manager online`.

    The queues of this manager stay in use.  A manager that starts is online.
    """
    with connected() as connection:
        print_record(connection.take_offline(), as_json)


@manager.command()
@format_option
@examples("reliquary manager online")
def online(as_json: bool | None) -> None:
    """Send messages to other managers and receive from them again."""
    with connected() as connection:
        print_record(connection.bring_online(), as_json)

"""`reliquary manager`: the queue manager itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, wants_json

if TYPE_CHECKING:
    from reliquary.client.records import ManagerInfo


@click.group()
def manager() -> None:
    """Show the queue manager, take it offline and bring it online."""


@manager.command()
@format_option
@examples("reliquary manager status")
def status(as_json: bool | None) -> None:
    """Show who the manager is, what it holds and whether it is online."""
    with connected() as connection:
        _show(connection.info(), as_json)


@manager.command()
@format_option
@examples("reliquary manager offline")
def offline(as_json: bool | None) -> None:
    """Let no message leave for other managers, and take none from them, until it is online again.

    Its own queues work on.  A manager that starts is online.
    """
    with connected() as connection:
        _show(connection.take_offline(), as_json)


@manager.command()
@format_option
@examples("reliquary manager online")
def online(as_json: bool | None) -> None:
    """Let messages travel again."""
    with connected() as connection:
        _show(connection.bring_online(), as_json)


def _show(info: ManagerInfo, as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([info])
    else:
        print_fields({field: getattr(info, field) for field in info.__struct_fields__})

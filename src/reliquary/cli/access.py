"""`reliquary access`: who may do what with a queue, or with the manager itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_json, print_table, wants_json

if TYPE_CHECKING:
    from reliquary.client.records import AccessInfo

queue_argument = click.argument("queue")
user_argument = click.argument("user")


@click.group()
def access() -> None:
    """Show and change the access lists of queues and of the manager.

    QUEUE is a queue's name, or . for the manager itself.  USER is a user or a group of the server's
    settings, everyone, anonymous, authenticated, administrators, or a SID.  A RIGHT is send, receive,
    peek, read, write, all, or one by its full name such as set-queue-properties.
    """


def _name(queue: str) -> str:
    return "" if queue == "." else queue


@access.command()
@queue_argument
@format_option
@examples("reliquary access show orders", "reliquary access show .")
def show(queue: str, as_json: bool | None) -> None:
    """Show the access list of QUEUE."""
    with connected() as manager:
        info = manager.access(_name(queue))
    _show(info, as_json)


@access.command()
@queue_argument
@user_argument
@click.argument("right", nargs=-1, required=True)
@format_option
@examples("reliquary access grant orders alice send peek", "reliquary access grant . bob create-queue")
def grant(queue: str, user: str, right: tuple[str, ...], as_json: bool | None) -> None:
    """Allow USER to do something with QUEUE."""
    with connected() as manager:
        info = manager.grant(user, *right, queue=_name(queue))
    _show(info, as_json)


@access.command()
@queue_argument
@user_argument
@click.argument("right", nargs=-1, required=True)
@format_option
@examples("reliquary access deny orders mallory all")
def deny(queue: str, user: str, right: tuple[str, ...], as_json: bool | None) -> None:
    """Forbid USER to do something with QUEUE, even if another entry allows it."""
    with connected() as manager:
        info = manager.deny(user, *right, queue=_name(queue))
    _show(info, as_json)


@access.command()
@queue_argument
@user_argument
@click.argument("right", nargs=-1)
@format_option
@examples("reliquary access revoke orders everyone", "reliquary access revoke orders alice send")
def revoke(queue: str, user: str, right: tuple[str, ...], as_json: bool | None) -> None:
    """Remove the entries of USER for each RIGHT; without a RIGHT, remove all its entries."""
    with connected() as manager:
        info = manager.revoke(user, *right, queue=_name(queue))
    _show(info, as_json)


@access.command()
@queue_argument
@user_argument
@format_option
@examples("reliquary access owner orders alice")
def owner(queue: str, user: str, as_json: bool | None) -> None:
    """Make USER the owner of QUEUE, who may always read and change its list."""
    with connected() as manager:
        info = manager.set_owner(user, queue=_name(queue))
    _show(info, as_json)


def _show(info: AccessInfo, as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([info])
        return
    click.echo(f"owner: {info.owner or info.owner_sid}")
    rows = [
        (entry.user or entry.sid, "allow" if entry.allow else "deny", ", ".join(entry.rights))
        for entry in info.entries
    ]
    print_table(("user", "entry", "rights"), rows)

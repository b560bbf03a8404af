"""`reliquary queue`: make, list, delete and empty queues."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from reliquary.cli.administration import print_shown
from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_json, print_table, wants_json
from reliquary.cli.poison import poison

if TYPE_CHECKING:
    from reliquary.views.queues import QueueInfo

COLUMNS: Final = (
    "queue", "messages", "locked", "delayed", "bytes", "readers", "journaling", "transactional", "label",
)  # fmt: skip

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")


@click.command()
@click.argument("name")
@click.option("--label", help="A description of the queue.")
@click.option("--journaling", is_flag=True, default=None, help="Keep a copy of each message received.")
@click.option(
    "--journal-required",
    is_flag=True,
    default=None,
    help="Refuse a receive if the journal has no room for the copy.",
)
@click.option("--quota", type=int, metavar="KB", help="The most kilobytes in the queue.  [default: no limit]")
@click.option("--journal-quota", type=int, metavar="KB", help="The most kilobytes in its journal.")
@click.option(
    "--transactional", is_flag=True, default=None, help="Accept only messages that are sent in transactions."
)
@click.option("--authentication", is_flag=True, default=None, help="Accept only signed messages.")
@click.option(
    "--multicast",
    "multicast_address",
    metavar="IP:PORT",
    help="A multicast group whose messages the queue receives too, such as 234.1.1.1:8001.",
)
@click.option("--base-priority", type=int, help="The priority of the queue, -32767 to 32767.")
@click.option(
    "--poison-limit",
    type=int,
    metavar="N",
    help="Move a message to a subqueue or dead-letter queue after it was returned N times.",
)
@click.option(
    "--retry-delay",
    type=int,
    metavar="SECONDS",
    help="The pause before a returned message is available again.",
)
@click.option(
    "--longest-retry-delay",
    type=int,
    metavar="SECONDS",
    help="The longest pause; each pause is twice the one before.",
)
@click.option(
    "--keep-refused/--discard-refused",
    default=None,
    help="Make a dead letter of a message that a peer refuses for good, or discard it.",
)
@click.option("--exist-ok", is_flag=True, help="Succeed if the queue exists already.")
@format_option
@examples("reliquary queue create orders", "reliquary queue create orders --journaling --quota 1048576")
def create(name: str, exist_ok: bool, as_json: bool | None, **options: Any) -> None:
    """Make the queue NAME."""
    from reliquary.views.queues import QUEUE

    chosen = {option: value for option, value in options.items() if value is not None}
    with connected() as manager:
        info = manager.create_queue(name, exist_ok=exist_ok, **chosen).info()
    print_shown(QUEUE.showing, info, as_json)


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Also list empty queues of the manager itself.")
@format_option
@examples("reliquary queue list")
def list_queues(everything: bool, as_json: bool | None) -> None:
    """List the queues with the number of their messages."""
    with connected() as manager:
        queues = [info for info in manager.queues() if everything or info.kind != "system" or info.messages]
    if wants_json(as_json):
        print_json(queues)
        return
    print_table(COLUMNS, map(_row, queues))


def _row(info: QueueInfo) -> tuple[object, ...]:
    return (
        info.name,
        info.messages,
        info.locked,
        info.delayed,
        info.bytes,
        info.readers_waiting,
        info.settings.journaling,
        info.settings.transactional,
        info.settings.label,
    )


@click.command()
@click.argument("name")
@yes_option
@format_option
@examples("reliquary queue delete orders --yes")
def delete(name: str, yes: bool, as_json: bool | None) -> None:
    """Delete the queue NAME with all its messages."""
    if _sure(f"Delete the queue {name} with all its messages?", yes):
        with connected() as manager:
            count = manager.delete_queue(name)
        _tell("deleted", name, count, as_json)


@click.command()
@click.argument("name")
@yes_option
@format_option
@examples("reliquary queue purge orders --yes")
def purge(name: str, yes: bool, as_json: bool | None) -> None:
    """Remove all messages of the queue NAME."""
    if _sure(f"Remove all messages of {name}?", yes):
        with connected() as manager:
            count = manager.queue(name).purge()
        _tell("purged", name, count, as_json)


def _sure(question: str, yes: bool) -> bool:
    """Ask a user for confirmation; a script is not asked."""
    if yes or not _is_person():
        return True
    if click.confirm(question, err=True):
        return True
    click.echo("Nothing was changed.", err=True)
    return False


def _tell(done: str, name: str, count: int, as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([{"queue": name, "done": done, "messages": count}])
    else:
        click.echo(f"{done} {name}, {count} messages")


def _is_person() -> bool:
    return sys.stdin.isatty()


COMMANDS = (create, list_queues, delete, purge, poison)

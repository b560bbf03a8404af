"""`reliquary outgoing`: messages on their way to other managers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, print_table, wants_json

if TYPE_CHECKING:
    from reliquary.client.records import OutgoingInfo

ELSEWHERE = r"reliquary outgoing {} 'DIRECT=OS:elsewhere\private$\orders'"


@click.group()
def outgoing() -> None:
    """List, show, pause and resume the queues of messages that go to other managers."""


@outgoing.command("list")
@format_option
@examples("reliquary outgoing list")
def list_outgoing(as_json: bool | None) -> None:
    """List the outgoing queues with what waits in them."""
    with connected() as manager:
        queues = manager.outgoing()
    if wants_json(as_json):
        print_json(queues)
        return
    columns = (
        "destination", "state", "messages", "bytes", "sending", "accepted", "delivered", "refused",
        "failures",
    )  # fmt: skip
    print_table(columns, [[getattr(info, column) for column in columns] for info in queues])


@outgoing.command()
@click.argument("destination")
@format_option
@examples(ELSEWHERE.format("show"))
def show(destination: str, as_json: bool | None) -> None:
    """Show all that is known of the way to DESTINATION, with its last connections."""
    with connected() as manager:
        _show(manager.outgoing_queue(destination), as_json)


@outgoing.command()
@click.argument("destination")
@format_option
@examples(ELSEWHERE.format("pause"))
def pause(destination: str, as_json: bool | None) -> None:
    """Let nothing leave for DESTINATION until it is resumed; what is on its way arrives."""
    with connected() as manager:
        _show(manager.pause(destination), as_json)


@outgoing.command()
@click.argument("destination")
@format_option
@examples(ELSEWHERE.format("resume"))
def resume(destination: str, as_json: bool | None) -> None:
    """Let messages leave for DESTINATION again; one that failed is tried at once."""
    with connected() as manager:
        _show(manager.resume(destination), as_json)


def _show(info: OutgoingInfo, as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([info])
        return
    fields: dict[str, object] = {field: getattr(info, field) for field in info.__struct_fields__}
    fields["next_hops"] = ", ".join(info.next_hops) or None
    fields["history"] = len(info.history)
    print_fields(fields)
    if info.history:
        click.echo()
        attempts = [[each.time, each.status, each.error, ", ".join(each.addresses)] for each in info.history]
        print_table(("time", "status", "error", "addresses"), attempts)

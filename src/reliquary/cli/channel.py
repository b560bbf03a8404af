"""`reliquary channel`: batches that go and come by HTTPR, and what is in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, print_table, wants_json

if TYPE_CHECKING:
    from reliquary.client.records import ChannelInfo


@click.group()
def channel() -> None:
    """List, show, resolve, forget and settle the channels of HTTPR."""


@channel.command("list")
@format_option
@examples("reliquary channel list")
def list_channels(as_json: bool | None) -> None:
    """List the channels with how far they got.

    `role` is client where this manager drives the channel; `in_doubt` are batches that may have
    arrived or not.
    """
    with connected() as manager:
        channels = manager.channels()
    if wants_json(as_json):
        print_json(channels)
        return
    columns = (
        "number", "role", "state", "requester", "name", "responder", "last_source_id", "in_doubt",
        "last_received_id",
    )  # fmt: skip
    rows = [
        [len(info.in_doubt) if column == "in_doubt" else getattr(info, column) for column in columns]
        for info in channels
    ]
    print_table(columns, rows)


@channel.command()
@click.argument("number", type=int)
@format_option
@examples("reliquary channel show 1")
def show(number: int, as_json: bool | None) -> None:
    """Show all that is known of channel NUMBER, with its batches in doubt."""
    with connected() as manager:
        _show(manager.channel(number), as_json)


@channel.command()
@click.argument("number", type=int)
@format_option
@examples("reliquary channel report 1")
def report(number: int, as_json: bool | None) -> None:
    """Ask the responder of channel NUMBER now what became of the batches in doubt."""
    with connected() as manager:
        _show(manager.report_channel(number), as_json)


@channel.command()
@click.argument("number", type=int)
@format_option
@examples("reliquary channel forget 1")
def forget(number: int, as_json: bool | None) -> None:
    """Forget how far channel NUMBER got, on both sides; refused while anything is in doubt.

    Of a channel that another agent drives, only what this manager knows is forgotten; be sure that the
    agent is in doubt of nothing, for what it sends again would be taken again.
    """
    with connected() as manager:
        _show(manager.forget_channel(number), as_json)


@channel.command()
@click.argument("number", type=int)
@click.option("--arrived/--lost", required=True, help="Whether the other agent has the messages.")
@format_option
@examples("reliquary channel settle 5 --lost")
def settle(number: int, arrived: bool, as_json: bool | None) -> None:
    """Decide about all that is in doubt on channel NUMBER, in place of an agent that is gone for good.

    What counts as arrived leaves its queue, what counts as lost can be received and sent again.  If that is
    not true, messages are lost or come twice.
    """
    with connected() as manager:
        _show(manager.settle_channel(number, arrived=arrived), as_json)


def _show(info: ChannelInfo, as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([info])
        return
    fields: dict[str, object] = {field: getattr(info, field) for field in info.__struct_fields__}
    fields["in_doubt"] = len(info.in_doubt)
    print_fields({name: None if value == "" else value for name, value in fields.items()})
    if info.in_doubt:
        click.echo()
        batches = [[each.id, each.queue, each.messages, each.since] for each in info.in_doubt]
        print_table(("id", "queue", "messages", "since"), batches)

"""`reliquary stream`: messages that go and come exactly once and in order."""

from __future__ import annotations

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_json, print_table, wants_json


@click.group()
def stream() -> None:
    """Show the streams between this manager and others."""


@stream.command("list")
@format_option
@examples("reliquary stream list")
def list_streams(as_json: bool | None) -> None:
    """List the streams that go out and come in, with how far they got.

    `awaiting` are the messages without a receipt; they are sent again at `next_resend`.
    """
    with connected() as manager:
        streams = manager.streams()
    if wants_json(as_json):
        print_json(streams)
        return
    columns = (
        "direction", "peer", "queue", "last", "acknowledged", "awaiting", "next_resend", "rejected",
    )  # fmt: skip
    print_table(columns, [[getattr(info, column) for column in columns] for info in streams])

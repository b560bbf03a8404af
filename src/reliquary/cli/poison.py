"""`reliquary queue poison`: messages that were handed out too often."""

from __future__ import annotations

from itertools import islice

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.message import preview, record_of
from reliquary.cli.output import format_option, print_json, print_table, wants_json


@click.group()
def poison() -> None:
    """Look at messages that were handed out too often, and return them."""


@poison.command("list")
@click.argument("queue")
@click.option(
    "--limit", type=click.IntRange(1), default=100, show_default=True, help="Up to this number of messages."
)
@format_option
@examples("reliquary queue poison list orders")
def list_poison(queue: str, limit: int, as_json: bool | None) -> None:
    """List what QUEUE has put aside."""
    from reliquary.client.errors import QueueNotFound

    with connected() as manager:
        watched = manager.queue(queue)
        watched.info()  # a queue that is not there is an error; one without poison is not
        try:
            messages = list(islice(watched.poison().browse(), limit))
        except QueueNotFound:
            messages = []
    if wants_json(as_json):
        print_json(map(record_of, messages))
        return
    columns = ("lookup id", "handed out", "aborted", "label", "bytes", "text")
    print_table(
        columns,
        (
            (each.lookup_id, each.handed_out, each.aborted, each.label, len(each.body), preview(each.body))
            for each in messages
        ),
    )


@poison.command("return")
@click.argument("queue")
@click.argument("lookup_ids", metavar="[LOOKUP_ID]...", type=int, nargs=-1)
@format_option
@examples("reliquary queue poison return orders", "reliquary queue poison return orders 288230376151711745")
def return_poison(queue: str, lookup_ids: tuple[int, ...], as_json: bool | None) -> None:
    """Put messages back into QUEUE to be tried anew: those named, or all."""
    with connected() as manager:
        watched = manager.queue(queue)
        watched.info()
        count = watched.return_poison(*lookup_ids)
    if wants_json(as_json):
        print_json([{"queue": queue, "done": "returned", "messages": count}])
    else:
        click.echo(f"returned {count} messages to {queue}")

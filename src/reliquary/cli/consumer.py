"""`reliquary consumer`: named readers of feeds, and how far each of them has come."""

from __future__ import annotations

import click

from reliquary.cli.connection import feed_client
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, print_table, wants_json

COLUMNS = ("queue", "name", "cursor", "mark", "created", "moved")


@click.command("list")
@click.argument("queue", default="*")
@format_option
@examples("reliquary consumer list", "reliquary consumer list 'orders*'")
def list_consumers(queue: str, as_json: bool | None) -> None:
    """List who reads QUEUE, or all queues that fit a pattern.

    What came after `cursor` is kept for the consumer, wherever else it goes; the feed goes to `mark`.
    """
    with feed_client() as server:
        found = [
            {"queue": feed.queue, "name": each.name, "cursor": each.cursor, "mark": feed.mark,
             "created": each.created, "moved": each.moved}
            for feed in server.feeds([queue])
            for each in server.consumers(feed.queue)
        ]  # fmt: skip
    if wants_json(as_json):
        print_json(found)
    else:
        print_table(COLUMNS, [[each[column] for column in COLUMNS] for each in found])


@click.command()
@click.argument("queue")
@click.argument("name")
@format_option
@examples("reliquary consumer show orders lake")
def show(queue: str, name: str, as_json: bool | None) -> None:
    """Show consumer NAME of QUEUE, and how much it has yet to read.

    Of more than some ten thousand messages, `unread` and `unread_bytes` are about right.
    """
    from reliquary.client.errors import NotFound

    with feed_client() as server:
        [feed] = server.feeds([queue], name)
        found = next((each for each in server.consumers(queue) if each.name == name), None)
        if found is None:
            raise NotFound("OBJECT_NOT_FOUND", f"{queue} has no consumer {name!r}")
        rest = server.plan(queue, found.cursor, None, consumer=name)
    fields = {
        "queue": feed.queue,
        "name": name,
        "incarnation": feed.incarnation,
        "cursor": found.cursor,
        "mark": feed.mark,
        "unread": rest.rows,
        "unread_bytes": rest.bytes,
        "created": found.created,
        "moved": found.moved,
    }
    if wants_json(as_json):
        print_json([fields])
    else:
        print_fields(fields)


@click.command()
@click.argument("queue")
@click.argument("name")
@click.argument("cursor", type=click.IntRange(min=0))
@examples("reliquary consumer move orders lake 4711")
def move(queue: str, name: str, cursor: int) -> None:
    """Let consumer NAME of QUEUE have read everything up to CURSOR.

    It only moves forward.  What nobody else has to read is let go of, and cannot be read again.
    """
    with feed_client() as server:
        server.move_consumer(queue, name, cursor)


@click.command()
@click.argument("queue")
@click.argument("name")
@examples("reliquary consumer remove orders lake")
def remove(queue: str, name: str) -> None:
    """Keep nothing for consumer NAME of QUEUE any more.

    A query that still reads under this name fails then: what it has not read may be lost.
    """
    with feed_client() as server:
        server.drop_consumer(queue, name)


COMMANDS = (list_consumers, show, move, remove)

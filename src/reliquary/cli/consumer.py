"""`reliquary consumer`: named readers of feeds, and how far each of them has come."""

from __future__ import annotations

import click

from reliquary.cli.connection import feed_client
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, print_table, wants_json

COLUMNS = ("queue", "name", "cursor", "mark", "created", "moved", "keep", "lost", "paused")


@click.command("list")
@click.argument("queue", default="*")
@format_option
@examples("reliquary consumer list", "reliquary consumer list 'orders*'")
def list_consumers(queue: str, as_json: bool | None) -> None:
    """List the consumers of QUEUE, or of all queues whose names match a pattern.

    What came after `cursor` is kept for the consumer, wherever else it goes; the feed goes to `mark`.
    """
    with feed_client() as server:
        found = [
            {"queue": feed.queue, "name": each.name, "cursor": each.cursor, "mark": feed.mark,
             "created": each.created, "moved": each.moved, "keep": each.keep, "lost": each.lost,
             "paused": each.paused}
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
    fields: dict[str, object] = {
        "queue": feed.queue,
        "name": name,
        "incarnation": feed.incarnation,
        "cursor": found.cursor,
        "mark": feed.mark,
        "unread": rest.rows,
        "unread_bytes": rest.bytes,
        "created": found.created,
        "moved": found.moved,
        "paused": found.paused,
        "keep": found.keep,
        "keep_of": found.keep_of,
        "lost": found.lost,
        "lost_bytes": found.lost_bytes,
    }
    if found.loss is not None:
        fields["last_loss"] = (
            f"{found.loss.messages} messages, {found.loss.bytes} bytes, after {found.loss.after} up to"
            f" {found.loss.until}, at {found.loss.moment}"
        )
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
    """Mark everything up to CURSOR as read by consumer NAME of QUEUE.

    It only moves forward.  What no other consumer has to read is deleted, and cannot be read again.
    """
    with feed_client() as server:
        server.move_consumer(queue, name, cursor)


@click.command()
@click.argument("queue")
@click.argument("name")
@examples("reliquary consumer remove orders lake")
def remove(queue: str, name: str) -> None:
    """Delete consumer NAME of QUEUE: nothing is kept for it any more.

    A query that still reads under this name fails then: what it has not read may be lost.
    """
    with feed_client() as server:
        server.drop_consumer(queue, name)


@click.command("set")
@click.argument("queue")
@click.argument("name", default="")
@click.option(
    "--keep",
    metavar="LIMIT",
    required=True,
    help="7d, 12h, 10g, 5000, 7d,10g, none; inherit takes the limit of the queue or of the settings.",
)
@examples("reliquary consumer set orders lake --keep 7d,10g", "reliquary consumer set orders --keep 100g")
def set_limit(queue: str, name: str, keep: str) -> None:
    """Limit what is kept for consumer NAME of QUEUE, by age, bytes and number of messages.

    Without NAME, the limit is for all consumers of QUEUE that have none of their own.  A consumer that passes
    its limit loses what is oldest and no other consumer keeps, and its query is notified.  Messages that wait
    in the queue are never deleted.
    """
    with feed_client() as server:
        server.set_consumer(queue, name, keep=keep)


@click.command()
@click.argument("queue")
@click.argument("name")
@examples("reliquary consumer pause orders lake")
def pause(queue: str, name: str) -> None:
    """Pause the query that reads QUEUE as NAME: it begins no new batch.

    Messages are kept for it meanwhile, within its limit.
    """
    with feed_client() as server:
        server.set_consumer(queue, name, paused=True)


@click.command()
@click.argument("queue")
@click.argument("name")
@examples("reliquary consumer resume orders lake")
def resume(queue: str, name: str) -> None:
    """Resume the query that reads QUEUE as NAME."""
    with feed_client() as server:
        server.set_consumer(queue, name, paused=False)


@click.command()
@click.argument("queue")
@click.argument("name")
@click.option(
    "--to",
    required=True,
    metavar="PLACE",
    help="The new place: earliest, latest, a number, or a time such as 2026-11-18T05:00Z.",
)
@click.option("--dry-run", is_flag=True, help="Print what would happen, and change nothing.")
@format_option
@examples(
    "reliquary consumer reset orders lake --to latest --dry-run",
    "reliquary consumer reset orders lake --to 2026-11-18T05:00:00Z",
)
def reset(queue: str, name: str, to: str, dry_run: bool, as_json: bool | None) -> None:
    """Move the cursor of consumer NAME of QUEUE forward or back.

    What it passes over and no other consumer has to read is deleted, if it is not in the queue any more.  A
    query with a checkpoint goes on where its checkpoint is: after a reset forward it is notified of the gap.
    """
    with feed_client() as server:
        done = server.reset_consumer(queue, name, to, dry_run=dry_run)
    fields: dict[str, object] = {
        "before": done.before,
        "cursor": done.cursor,
        "passed_over" if done.cursor >= done.before else "read_again": done.messages,
        "bytes": done.bytes,
        "more": done.more,
        "dry_run": dry_run,
    }
    if wants_json(as_json):
        print_json([fields])
    else:
        print_fields(fields)


COMMANDS = (list_consumers, show, set_limit, pause, resume, reset, move, remove)

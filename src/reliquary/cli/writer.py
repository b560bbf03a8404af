"""`reliquary writer`: queries that publish batches, and the names that are theirs."""

from __future__ import annotations

import click

from reliquary.cli.connection import feed_client
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_records


@click.group()
def writer() -> None:
    """List and forget those who publish batches."""


@writer.command("list")
@format_option
@examples("reliquary writer list")
def list_writers(as_json: bool | None) -> None:
    """List the queries that published batches, with the last one of each.

    `writers` are the names under which no other query may publish; `waiting` are rows of parts that are
    not published yet.
    """
    with feed_client() as server:
        found = server.writers()
    columns = ("query", "writers", "batch", "rows", "total", "published", "waiting")
    print_records(found, columns, as_json)


@writer.command()
@click.option("--query", default="", help="Forget its batches, and let its names be anybody's.")
@click.option("--name", default="", help="Let this name be anybody's.")
@examples("reliquary writer forget --name till-1")
def forget(query: str, name: str) -> None:
    """Forget a query, or whose a name is.

    Be sure that the query has ended for good: a batch of it that comes again would be published again.
    """
    if bool(query) == bool(name):
        raise click.UsageError("give either --query or --name.")
    with feed_client() as server:
        server.forget_writer(query=query, writer=name)

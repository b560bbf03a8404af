"""`reliquary writer`: queries that publish batches, and the names that are theirs."""

from __future__ import annotations

import click

from reliquary.cli.connection import feed_client
from reliquary.cli.examples import examples


@click.command()
@click.option(
    "--query", default="", help="Delete the record of the batches of this query, and release its names."
)
@click.option("--name", default="", help="Release this name, so that another query can use it.")
@examples("reliquary writer forget --name till-1")
def forget(query: str, name: str) -> None:
    """Delete the record of a query (--query), or release a writer name (--name).

    Do this only when the query will not run again: a batch that it repeats would be published twice.

    After a restore, --query also lets a query continue whose batches the restored store lost.
    """
    if bool(query) == bool(name):
        raise click.UsageError("give either --query or --name.")
    with feed_client() as server:
        server.forget_writer(query=query, writer=name)


COMMANDS = (forget,)

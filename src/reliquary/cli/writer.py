"""`reliquary writer`: queries that publish batches, and the names that are theirs."""

from __future__ import annotations

import click

from reliquary.cli.connection import feed_client
from reliquary.cli.examples import examples


@click.command()
@click.option("--query", default="", help="Forget its batches, and let other queries use its names.")
@click.option("--name", default="", help="Let other queries use this name.")
@examples("reliquary writer forget --name till-1")
def forget(query: str, name: str) -> None:
    """Forget a query, or whose a name is.

    Be sure that the query has ended for good: a batch of it that comes again would be published again.

    After a restore, --query also lets a query go on of which the restored store lost batches.
    """
    if bool(query) == bool(name):
        raise click.UsageError("give either --query or --name.")
    with feed_client() as server:
        server.forget_writer(query=query, writer=name)


COMMANDS = (forget,)

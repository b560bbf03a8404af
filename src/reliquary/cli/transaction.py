"""`reliquary transaction commit` and `abort`: a person decides in place of the coordinator."""

from __future__ import annotations

import getpass

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples


@click.command()
@click.argument("id")
@examples("reliquary transaction commit 6b29fc40-ca47-1067-b31d-00dd010662da")
def commit(id: str) -> None:  # noqa: A002 - the name of the argument in --help
    """Commit the transaction ID.

    A coordinator that decides otherwise later is refused: do this only when its decision is known.
    Your name is kept with the outcome.
    """
    with connected() as manager:
        manager.commit(id, by=getpass.getuser())


@click.command()
@click.argument("id")
@examples("reliquary transaction abort 6b29fc40-ca47-1067-b31d-00dd010662da")
def abort(id: str) -> None:  # noqa: A002 - the name of the argument in --help
    """Abort the transaction ID.

    A coordinator that decides otherwise later is refused: do this only when its decision is known.
    Your name is kept with the outcome.
    """
    with connected() as manager:
        manager.abort(id, by=getpass.getuser())


COMMANDS = (commit, abort)

"""`reliquary transaction`: those that have not ended, and their end."""

from __future__ import annotations

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_json, print_table, wants_json


@click.group()
def transaction() -> None:
    """List transactions that have not ended, and decide them."""


@transaction.command("list")
@format_option
@examples("reliquary transaction list")
def list_transactions(as_json: bool | None) -> None:
    """List the transactions that have not ended; prepared ones wait for a decision."""
    with connected() as manager:
        transactions = manager.transactions()
    if wants_json(as_json):
        print_json(transactions)
        return
    rows = ((each.id, each.prepared, each.operations, each.bytes) for each in transactions)
    print_table(("transaction", "prepared", "operations", "bytes"), rows)


@transaction.command()
@click.argument("id")
@examples("reliquary transaction commit 6b29fc40-ca47-1067-b31d-00dd010662da")
def commit(id: str) -> None:  # noqa: A002 - the name of the argument in --help
    """Let the transaction ID take effect."""
    with connected() as manager:
        manager.commit(id)


@transaction.command()
@click.argument("id")
@examples("reliquary transaction abort 6b29fc40-ca47-1067-b31d-00dd010662da")
def abort(id: str) -> None:  # noqa: A002 - the name of the argument in --help
    """Undo the transaction ID."""
    with connected() as manager:
        manager.abort(id)

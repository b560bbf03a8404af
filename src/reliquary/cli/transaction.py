"""`reliquary transaction`: those that have not ended, how others did, and their end."""

from __future__ import annotations

import getpass
from datetime import datetime
from typing import TYPE_CHECKING

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, print_table, wants_json

if TYPE_CHECKING:
    from reliquary.client.records import TransactionInfo

COLUMNS = ("transaction", "stage", "kind", "owner", "operations", "queues", "begun", "in doubt since")


@click.group()
def transaction() -> None:
    """List transactions that have not ended, and decide them."""


@transaction.command("list")
@click.option("--owner", metavar="NAME", help="Only those of this application.")
@click.option("--ended", is_flag=True, help="Also those that ended lately, after they were prepared.")
@format_option
@examples("reliquary transaction list", "reliquary transaction list --owner billing --ended")
def list_transactions(owner: str | None, ended: bool, as_json: bool | None) -> None:
    """List the transactions that have not ended; prepared ones wait for a decision."""
    with connected() as manager:
        transactions = manager.transactions(owner, ended=ended)
    if wants_json(as_json):
        print_json(transactions)
        return
    print_table(COLUMNS, map(_row, transactions))


@transaction.command()
@click.argument("id")
@format_option
@examples("reliquary transaction show 6b29fc40-ca47-1067-b31d-00dd010662da")
def show(id: str, as_json: bool | None) -> None:  # noqa: A002 - the name of the argument in --help
    """Show the transaction ID, also one that ended lately: how, when, and who decided."""
    with connected() as manager:
        found = manager.transaction_info(id)
    if wants_json(as_json):
        print_json([found])
        return
    fields = dict(zip(COLUMNS, _row(found), strict=True))
    more = {"bytes": found.bytes, "ended": _moment(found.ended_at), "decided by": found.decided_by}
    print_fields(fields | more)


@transaction.command()
@click.argument("id")
@examples("reliquary transaction commit 6b29fc40-ca47-1067-b31d-00dd010662da")
def commit(id: str) -> None:  # noqa: A002 - the name of the argument in --help
    """Let the transaction ID take effect.

    A coordinator that decides otherwise later is refused: do this only when its decision is known.
    Your name is kept with the outcome.
    """
    with connected() as manager:
        manager.commit(id, by=getpass.getuser())


@transaction.command()
@click.argument("id")
@examples("reliquary transaction abort 6b29fc40-ca47-1067-b31d-00dd010662da")
def abort(id: str) -> None:  # noqa: A002 - the name of the argument in --help
    """Undo the transaction ID.

    A coordinator that decides otherwise later is refused: do this only when its decision is known.
    Your name is kept with the outcome.
    """
    with connected() as manager:
        manager.abort(id, by=getpass.getuser())


def _row(each: TransactionInfo) -> tuple[object, ...]:
    return (
        each.id,
        each.stage,
        "external" if each.external else "internal",
        each.owner,
        each.operations,
        " ".join(each.queues),
        _moment(each.begun_at),
        _moment(each.prepared_at),
    )


def _moment(at: datetime | None) -> str:
    return "" if at is None else at.isoformat(timespec="seconds")

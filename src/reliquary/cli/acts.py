"""`reliquary acts`: what administrators did."""

from __future__ import annotations

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_records

COLUMNS = ("time", "who", "source", "act", "object", "outcome", "times", "detail", "why")


@click.group()
def acts() -> None:
    """Show the log of administrative acts."""


@acts.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="The largest number of acts.",
)
@click.option("--who", default="", metavar="NAME", help="Only acts of this user.")
@click.option("--act", default="", metavar="ACT", help="Only acts of this kind, such as purge-queue.")
@format_option
@examples("reliquary acts list", "reliquary acts list --who alice --act purge-queue")
def list_acts(limit: int, who: str, act: str, as_json: bool | None) -> None:
    """List the latest acts that changed something, or tried to; the latest first.

    Each has its time, the user, the address that it came from, the object and the outcome.
    """
    with connected() as manager:
        records = manager.acts(limit=limit, who=who, act=act)
    print_records(records, COLUMNS, as_json)

"""`reliquary message trace`: the way of a message through managers."""

from __future__ import annotations

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_json, print_table, wants_json
from reliquary.server.exits import Exit

COLUMNS = ("time", "manager_name", "event", "queue", "other_queue", "reason", "protocol", "peer", "attempt")


@click.command()
@click.argument("identifier", metavar="ID")
@click.option("--here", is_flag=True, help="Ask this manager alone, and none of its peers.")
@format_option
@click.pass_context
@examples(r"reliquary message trace '5a1c0f5e-0f63-4d2c-9a52-6a3a1b2c3d4e\42'")
def trace(context: click.Context, identifier: str, here: bool, as_json: bool | None) -> None:
    """Show the events of the message ID at all managers: what happened, where and when.

    The server asks the managers that its settings name as [[peers]].  One that does not answer is named
    on stderr.  Ends with 4 when no manager knows the message.
    """
    with connected() as manager:
        found = manager.trace(identifier, here=here)
    if wants_json(as_json):
        print_json([found])
    else:
        rows = [[_shown(line, name) for name in COLUMNS] for line in found.lines]
        print_table([name.removesuffix("_name").replace("_", " ") for name in COLUMNS], rows)
    for each in found.managers:
        if each.why:
            click.echo(f"reliquary: {each.name} gave no lines: {each.why}", err=True)
    if not found.lines:
        click.echo("reliquary: no manager that was asked has an event of this message", err=True)
        context.exit(Exit.NOT_FOUND)


def _shown(line: object, name: str) -> object:
    value = getattr(line, name)
    return value.isoformat(" ", "milliseconds").removesuffix("+00:00") if name == "time" else value

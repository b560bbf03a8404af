"""`reliquary directory`: what managers know of each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_fields, print_json, print_table, wants_json

KINDS = (
    "enterprise",
    "site",
    "routing-link",
    "connected-network",
    "queue-manager",
    "queue",
    "user",
    "distribution-list",
)
NAMES = ("name", "computer_name", "pathname", "description", "security_identifier")
"""The attributes that can be the name of an object, in order of precedence."""

kind_argument = click.argument("kind", type=click.Choice(KINDS), metavar="KIND")
which_argument = click.argument("which", metavar="NAME|ID")


@click.group()
def directory() -> None:
    """Show and change the objects of the directory: sites, routing links, other managers and their queues.

    KIND is enterprise, site, routing-link, connected-network, queue-manager, queue, user or
    distribution-list.  An attribute is given as NAME=VALUE; one that holds a list takes its entries
    with commas between them.
    """


@directory.command("list")
@kind_argument
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="A condition, such as actual_cost<9; all conditions must hold.",
)
@format_option
@examples("reliquary directory list site", "reliquary directory list routing-link --where 'actual_cost<9'")
def list_objects(kind: str, where: tuple[str, ...], as_json: bool | None) -> None:
    """List the objects of a type."""
    with connected() as manager:
        objects = manager.directory.objects(kind, *where)
    if wants_json(as_json):
        print_json(objects)
        return
    print_table(("identifier", "name"), [(each["identifier"], _name(each)) for each in objects])


def _name(fields: dict[str, Any]) -> str:
    return next((str(fields[name]) for name in NAMES if name in fields), "")


@directory.command()
@kind_argument
@which_argument
@format_option
@examples("reliquary directory show site north")
def show(kind: str, which: str, as_json: bool | None) -> None:
    """Show all attributes of an object."""
    with connected() as manager:
        fields = manager.directory.object(kind, which)
    _show(fields, as_json)


def _show(fields: dict[str, Any], as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([fields])
    else:
        print_fields({name: _shown(value) for name, value in fields.items()})


def _shown(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


@directory.command()
@kind_argument
@click.argument("attributes", nargs=-1, metavar="[NAME=VALUE]...")
@format_option
@examples("reliquary directory add site name=north")
def add(kind: str, attributes: tuple[str, ...], as_json: bool | None) -> None:
    """Create an object."""
    fields = _fields(kind, attributes)
    with connected() as manager:
        made = manager.directory.add(kind, **fields)
    _show(made, as_json)


@directory.command("set")
@kind_argument
@which_argument
@click.argument("attributes", nargs=-1, required=True, metavar="NAME=VALUE...")
@format_option
@examples("reliquary directory set site north foreign_site=true")
def set_attributes(kind: str, which: str, attributes: tuple[str, ...], as_json: bool | None) -> None:
    """Change attributes of an object."""
    fields = _fields(kind, attributes)
    with connected() as manager:
        changed = manager.directory.change(kind, which, **fields)
    _show(changed, as_json)


@directory.command()
@kind_argument
@which_argument
@examples("reliquary directory remove site north")
def remove(kind: str, which: str) -> None:
    """Remove an object."""
    with connected() as manager:
        manager.directory.remove(kind, which)


def _fields(kind: str, attributes: tuple[str, ...]) -> dict[str, Any]:
    """Return the attributes NAME=VALUE, each converted to its type."""
    from reliquary.queueing.directory.exchange import value_of

    fields: dict[str, Any] = {}
    for each in attributes:
        name, found, text = each.partition("=")
        if not found:
            raise click.UsageError(f"an attribute is NAME=VALUE, not {each!r}")
        if name in fields:
            raise click.UsageError(f"{name} is given twice")
        fields[name] = value_of(kind, name, text)
    return fields


@directory.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@examples("reliquary directory export directory.toml")
def export(file: Path | None) -> None:
    """Write all objects as TOML, to FILE or to stdout."""
    with connected() as manager:
        text = manager.directory.export_text()
    if file is None:
        click.echo(text, nl=False)
    else:
        file.write_text(text, encoding="utf-8")


@directory.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@examples("reliquary directory import directory.toml")
def import_file(file: Path) -> None:
    """Import all objects of the TOML FILE, or none of them; - is stdin."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except UnicodeDecodeError as why:
        raise click.UsageError(f"{file} is not text: {why}") from why
    with connected() as manager:
        count = manager.directory.import_text(text)
    click.echo(f"{count} objects")


@directory.command()
@format_option
@examples("reliquary directory status")
def status(as_json: bool | None) -> None:
    """Show whether the directory can be reached, and what is in it."""
    _switch("info", as_json)


@directory.command()
@format_option
@examples("reliquary directory attach")
def attach(as_json: bool | None) -> None:
    """Connect this manager to the directory again."""
    _switch("attach", as_json)


@directory.command()
@format_option
@examples("reliquary directory detach")
def detach(as_json: bool | None) -> None:
    """Disconnect this manager from the directory until `directory attach`."""
    _switch("detach", as_json)


def _switch(how: str, as_json: bool | None) -> None:
    with connected() as manager:
        info = getattr(manager.directory, how)()
    if wants_json(as_json):
        print_json([info])
        return
    fields = {name: _shown(getattr(info, name)) for name in info.__struct_fields__ if name != "objects"}
    print_fields(fields | info.objects)

"""`reliquary store`: check it, copy it, bring it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_json, print_table, wants_json
from reliquary.server.exits import Exit

if TYPE_CHECKING:
    from reliquary.client.records import StoreReport

folder = click.Path(path_type=Path)


@click.group()
def store() -> None:
    """Check the store, back it up, and restore it."""


@store.command()
@click.argument("data", metavar="[DIR]", required=False, type=folder)
@format_option
@click.pass_context
@examples("reliquary store verify", "reliquary store verify ./reliquary-data")
def verify(context: click.Context, data: Path | None, as_json: bool | None) -> None:
    """Read every row of the store and check it.

    Also the counters of each queue are compared with its rows.  Without DIR a running server does it;
    with DIR the folder of a server that is stopped is read.
    """
    if data is None:
        with connected() as manager:
            report = manager.verify()
    else:
        report = _verify_stopped(data)
    _show(report, as_json)
    if not report.is_sound:
        click.echo(f"reliquary: the store is damaged in {report.damaged} places", err=True)
        context.exit(Exit.STORE_DAMAGED)


def _verify_stopped(data: Path) -> StoreReport:
    from reliquary.client import records
    from reliquary.store import RocksDisk, tables_in, verify

    disk = RocksDisk(data, tables_in(data), create=False)
    try:
        found = verify(disk, disk.tables)
    finally:
        disk.close()
    damages = [records.StoreDamage(each.table, each.key, each.why) for each in found.damages]
    return records.StoreReport(rows=found.rows, damaged=found.damaged, damages=damages)


def _show(report: StoreReport, as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([report])
        return
    print_table(("table", "rows"), report.rows.items())
    if report.damages:
        print_table(
            ("damaged table", "key", "why"), ((each.table, each.key, each.why) for each in report.damages)
        )


@store.command()
@click.argument("target", type=folder)
@click.option("--from", "data", metavar="DIR", type=folder, help="The folder of a server that is stopped.")
@click.option("--with-history", is_flag=True, help="Copy the exported files of the history too.")
@examples(
    "reliquary store backup /backups/monday --with-history",
    "reliquary store backup /backups/monday --from ./reliquary-data",
)
def backup(target: Path, data: Path | None, with_history: bool) -> None:
    """Copy the store into the new folder TARGET.

    A running server copies its store as it is now, beside its other work, to its own disk.  With
    --from, the folder of a server that is stopped is copied.  The history goes into TARGET/history; of a
    stopped server, it is taken from DIR/history.
    """
    if data is None:
        with connected() as manager:
            manager.backup(str(target.absolute()), with_history=with_history)
    else:
        from reliquary.store import backup_stopped

        backup_stopped(data, target, with_history=with_history)
    click.echo(f"backed up into {target}")


@store.command()
@click.argument("source", metavar="BACKUP", type=folder)
@click.argument("data", metavar="DIR", type=folder)
@examples("reliquary store restore /backups/monday ./reliquary-data")
def restore(source: Path, data: Path) -> None:
    """Make the folder DIR from a BACKUP; DIR must be empty or missing.

    The history that the backup took along goes into DIR/history.
    """
    from reliquary.net.chance import SystemChance
    from reliquary.store import restore as bring_back

    bring_back(source, data, SystemChance())
    click.echo(f"restored into {data}; start it with: reliquary serve --data {data}")

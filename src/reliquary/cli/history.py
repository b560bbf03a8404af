"""`reliquary history`: what happened to messages, as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import (
    format_option,
    print_fields,
    print_json,
    print_record,
    print_records,
    print_table,
    wants_json,
)
from reliquary.server.exits import Exit

if TYPE_CHECKING:
    from reliquary.store.history.verify import HistoryReport


@click.group()
def history() -> None:
    """Show the state of the history of messages, export it, and check its files."""


@history.command()
@format_option
@examples("reliquary history status")
def status(as_json: bool | None) -> None:
    """Show the number of events, how many of them are in files, and the last error of the export.

    `pending` events are in no file yet.  While the history is `stopped`, because too much waits for its
    export, events are only counted as `missing`.
    """
    with connected() as manager:
        info = manager.history()
    print_record(info, as_json)


@history.command()
@click.option(
    "--to",
    metavar="DIR",
    default=None,
    type=click.Path(path_type=Path),
    help="Copy the files into this folder too.",
)
@format_option
@examples("reliquary history export", "reliquary history export --to /lake/history")
def export(to: Path | None, as_json: bool | None) -> None:
    """Export all events up to now into files, and print the files that were written.

    With --to, all files that DIR, a folder on the server's machine, does not have yet are copied there and
    printed.
    """
    with connected() as manager:
        files = manager.export_history("" if to is None else str(to.absolute()))
    print_records(files, ("first", "last", "bytes", "path"), as_json)


@history.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@format_option
@click.pass_context
@examples("reliquary history verify", "reliquary history verify /backups/monday/history")
def verify(context: click.Context, folder: Path | None, as_json: bool | None) -> None:
    """Check that the exported files in DIR have every event once; no server is needed.

    Ends with 18 when events are missing between two files, come twice, or cannot be read.  Without DIR, a
    server of this machine is asked where its files are.
    """
    if folder is None:
        with connected() as manager:
            folder = Path(manager.history().folder)
    from reliquary.store.history.verify import verify_history

    report = verify_history(folder)
    _show(report, as_json)
    if not report.is_sound:
        found = len(report.findings) + report.more_findings
        click.echo(f"reliquary: the history in {folder} is wrong in {found} places", err=True)
        context.exit(Exit.HISTORY_DAMAGED)


def _show(report: HistoryReport, as_json: bool | None) -> None:
    if wants_json(as_json):
        print_json([report])
        return
    fields = {name: getattr(report, name) for name in report.__struct_fields__ if name != "findings"}
    print_fields(fields)
    if report.findings:
        columns = ("kind", "first", "last", "file", "why")
        print_table(columns, ([getattr(each, name) for name in columns] for each in report.findings))

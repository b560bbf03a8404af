"""`reliquary history`: what happened to messages, as files."""

from __future__ import annotations

from pathlib import Path

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_record, print_records


@click.group()
def history() -> None:
    """Show how the history of messages stands, and export it."""


@history.command()
@format_option
@examples("reliquary history status")
def status(as_json: bool | None) -> None:
    """Show how many events there are, how many are in files, and what is wrong, if anything is.

    `pending` events are in no file yet.  While the history is `stopped`, because too much waits for its
    export, events are only counted as `missing`.
    """
    with connected() as manager:
        info = manager.history()
    print_record(info, as_json)


@history.command()
@click.option(
    "--to", metavar="DIR", default=None, type=click.Path(path_type=Path), help="Copy the files there too."
)
@format_option
@examples("reliquary history export", "reliquary history export --to /lake/history")
def export(to: Path | None, as_json: bool | None) -> None:
    """Bring all that has happened until now into files, and print those that were written.

    With --to, all files that DIR, a folder on the server's machine, does not have yet are copied there and
    printed.
    """
    with connected() as manager:
        files = manager.export_history("" if to is None else str(to.absolute()))
    print_records(files, ("first", "last", "bytes", "path"), as_json)

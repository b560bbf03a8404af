"""`reliquary serve`: run a server until a signal comes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reliquary.cli.config import set_option
from reliquary.cli.examples import examples

if TYPE_CHECKING:
    from reliquary.server.config import Settings


@click.command()
@click.option(
    "--data",
    "folder",
    metavar="DIR",
    help="Where all messages are; made when it is missing.  [default: reliquary-data]",
)
@click.option(
    "--first-queue", "queues", multiple=True, metavar="NAME", help="Make this queue if it is missing."
)
@click.option("--host", "data_host", metavar="HOST", help="The data plane's address.  [default: 127.0.0.1]")
@click.option("--port", "data_port", type=int, metavar="PORT", help="Its port; 0 is any.  [default: 8480]")
@click.option("--control-host", metavar="HOST", help="The control plane's address.  [default: 127.0.0.1]")
@click.option("--control-port", type=int, metavar="PORT", help="Its port; 0 is any.  [default: 8481]")
@click.option(
    "--open-to-network",
    is_flag=True,
    default=None,
    help="Without users, listen also where other computers reach us: every client may do everything.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="How lines of the log are written.  [default: text]",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error", "critical"]),
    help="The least level of what is logged.  [default: warning]",
)
@click.option("--computer-name", metavar="NAME", help="The name this manager goes by.")
@click.option(
    "--quota", type=int, metavar="KB", help="What all queues together may hold.  [default: no limit]"
)
@click.option(
    "--in-doubt-wait",
    type=float,
    metavar="SECONDS",
    help="Start only when every prepared transaction has its outcome.  [default: no wait]",
)
@click.option("--tls-certificate", metavar="FILE", help="A PEM file; both planes speak HTTPS then.")
@click.option("--tls-key", metavar="FILE", help="The certificate's key.")
@click.option(
    "--settings",
    "file",
    envvar="RELIQUARY_SETTINGS",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with settings; options win over it.",
)
@set_option
@click.pass_context
@examples("reliquary serve --data ./reliquary-data --first-queue orders")
def serve(context: click.Context, /, file: Path | None, chosen: tuple[str, ...], **options: object) -> None:
    """Run a server until Ctrl-C or SIGTERM; SIGHUP lets it read its settings anew.

    Messages are on disk before their sender gets a confirmation; a crash loses none of them.
    """
    from reliquary.server.files import load_checked
    from reliquary.server.run import serve as run

    options["queues"] = list(options["queues"]) or None  # type: ignore[call-overload]

    def read() -> Settings:
        return load_checked(file, os.environ, options, chosen)

    context.exit(run(read(), read))

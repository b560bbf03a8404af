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
    help="The folder of all messages; it is created if missing.  [default: reliquary-data]",
)
@click.option(
    "--first-queue", "queues", multiple=True, metavar="NAME", help="Create this queue if it is missing."
)
@click.option(
    "--host", "data_host", metavar="HOST", help="The address of the data plane.  [default: 127.0.0.1]"
)
@click.option(
    "--port",
    "data_port",
    type=int,
    metavar="PORT",
    help="The port of the data plane; 0 takes any free port.  [default: 8480]",
)
@click.option(
    "--control-host", metavar="HOST", help="The address of the control plane.  [default: 127.0.0.1]"
)
@click.option(
    "--control-port",
    type=int,
    metavar="PORT",
    help="The port of the control plane; 0 takes any free port.  [default: 8481]",
)
@click.option(
    "--open-to-network",
    is_flag=True,
    default=None,
    help="Listen on the network although no users are named: every client may do everything.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="The format of the log.  [default: text]",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error", "critical"]),
    help="Log messages of this level and above.  [default: warning]",
)
@click.option("--computer-name", metavar="NAME", help="The name of this manager in names of queues.")
@click.option(
    "--quota", type=int, metavar="KB", help="The most kilobytes in all queues together.  [default: no limit]"
)
@click.option(
    "--in-doubt-wait",
    type=float,
    metavar="SECONDS",
    help="Wait at the start until each prepared transaction has its outcome; fail after this time.",
)
@click.option(
    "--tls-certificate", metavar="FILE", help="The certificate (PEM) with which both planes use HTTPS."
)
@click.option("--tls-key", metavar="FILE", help="The key (PEM) of that certificate.")
@click.option(
    "--settings",
    "file",
    envvar="RELIQUARY_SETTINGS",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with settings; options override it.",
)
@set_option
@click.pass_context
@examples("reliquary serve --data ./reliquary-data --first-queue orders")
def serve(context: click.Context, /, file: Path | None, chosen: tuple[str, ...], **options: object) -> None:
    """Run a server until Ctrl-C or SIGTERM; SIGHUP makes it read its settings again.

    Messages are on disk before their sender gets a confirmation; a crash loses none of them.
    """
    from reliquary.server.files import load_checked
    from reliquary.server.run import serve as run

    options["queues"] = list(options["queues"]) or None  # type: ignore[call-overload]

    def read() -> Settings:
        return load_checked(file, os.environ, options, chosen)

    context.exit(run(read(), read))

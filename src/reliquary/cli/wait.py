"""`reliquary wait`: return when a server is ready, so that a script needs no pause of its own."""

from __future__ import annotations

import math

import click

from reliquary.cli.connection import where
from reliquary.cli.examples import examples
from reliquary.server.exits import Exit


@click.command()
@click.option("--queue", metavar="NAME", help="Wait until this queue exists too.")
@click.option(
    "--messages",
    type=click.IntRange(1),
    metavar="N",
    help="Wait until the queue has this many messages that can be received.",
)
@click.option(
    "--timeout",
    type=float,
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="The time to wait; 0 checks once.",
)
@click.pass_context
@examples(
    "reliquary serve --first-queue orders & reliquary wait",
    "reliquary wait --queue orders --messages 10 --timeout 60",
)
def wait(context: click.Context, queue: str | None, messages: int | None, timeout: float) -> None:
    """Wait until the server answers on both planes and is ready.

    It prints nothing and ends with 0 as soon as all is there.  When the time is over, one sentence says
    what is missing, and so does the exit code: 5 the server, 4 the queue, 6 its messages.  A server that
    refuses (an unknown token, a missing right) ends the wait at once, with 3.
    """
    import asyncio

    from reliquary.client.errors import MessageNotFound
    from reliquary.client.readiness import Wanted, wait_until

    if not 0 <= timeout < math.inf:
        raise click.UsageError(f"--timeout is a number of seconds, not {timeout}.")
    if messages is not None and queue is None:
        raise click.UsageError("--messages needs --queue, which says where they are awaited.")
    named = where()
    wanted = Wanted(
        named.server,
        named.control,
        **named.read_proof(),
        tls=named.tls(),
        queue=queue,
        messages=messages or 0,
    )
    try:
        asyncio.run(wait_until(wanted, timeout))
    except MessageNotFound as why:
        click.echo(f"reliquary: {why.sentence}", err=True)
        context.exit(Exit.EMPTY)

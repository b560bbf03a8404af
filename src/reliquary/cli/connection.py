"""Where the server is: --server and --control, and the connection that a command works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from reliquary.client.feed import FeedClient
    from reliquary.client.sync.manager import Manager

SERVER_VARIABLE = "RELIQUARY_SERVER"
CONTROL_VARIABLE = "RELIQUARY_CONTROL"
TOKEN_VARIABLE = "RELIQUARY_TOKEN"


@dataclass(frozen=True)
class Where:
    """The addresses of both planes; `control` None is the port after the server's."""

    server: str
    control: str | None
    token: str | None = None


def connected() -> Manager:
    """A connection to the server that the command line names."""
    from reliquary.client.address import is_mqqp
    from reliquary.client.sync.manager import connect

    where = _where()
    if is_mqqp(where.server):  # a control plane or a token in the environment is another server's
        return connect(where.server)
    return connect(where.server, control=where.control, token=where.token)


def feed_client() -> FeedClient:
    """The feeds and batches of that server."""
    from reliquary.client.feed import FeedClient

    where = _where()
    return FeedClient(where.server, token=where.token or "")


def _where() -> Where:
    from reliquary.client.address import is_address

    where = click.get_current_context().find_object(Where)
    assert where is not None, "the root command says where the server is"
    for address in (where.server, where.control):
        if address is not None and not is_address(address):
            raise click.UsageError(f"{address!r} is not an address such as http://127.0.0.1:8480.")
    return where

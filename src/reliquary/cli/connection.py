"""The address of the server, from --server and --control, and the connection that a command works with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from reliquary.base.faults import UsageError

if TYPE_CHECKING:
    from reliquary.client.feed import FeedClient
    from reliquary.client.sync.manager import Manager

SERVER_VARIABLE = "RELIQUARY_SERVER"
CONTROL_VARIABLE = "RELIQUARY_CONTROL"
TOKEN_VARIABLE = "RELIQUARY_TOKEN"
TOKEN_FILE_VARIABLE = "RELIQUARY_TOKEN_FILE"


@dataclass(frozen=True)
class Where:
    """The addresses of both planes; `control` None is the port after the server's."""

    server: str
    control: str | None
    token: str | None = None
    token_file: Path | None = None
    """A file with the token, in place of `token`."""

    def read_token(self) -> str | None:
        """Return the token that identifies the user to the server; None for anonymous."""
        return self.token if self.token_file is None else read_token_file(self.token_file)


def read_token_file(file: Path) -> str:
    """Return the one word that a file holds; raise UsageError where it cannot be read."""
    try:
        words = file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as why:
        reason = (why.strerror or str(why)) if isinstance(why, OSError) else "it is not text"
        raise UsageError(f"--token-file {file} cannot be read: {reason}") from None
    if len(words) != 1:
        raise UsageError(f"--token-file {file} holds {len(words)} words, and a token is one")
    return words[0]


def chosen_token(
    context: click.Context, token: str | None, file: Path | None
) -> tuple[str | None, Path | None]:
    """Return the token or the file with it: what the command line says wins over the environment."""
    if token is None or file is None:
        return token, file
    by_line = ParameterSource.COMMANDLINE
    on_line = [context.get_parameter_source(name) is by_line for name in ("token", "token_file")]
    if on_line[0] == on_line[1]:
        raise click.UsageError("a token comes from --token or from --token-file, not from both.")
    return (token, None) if on_line[0] else (None, file)


def connected() -> Manager:
    """Return a connection to the server that the command line names."""
    from reliquary.client.address import is_mqqp
    from reliquary.client.sync.manager import connect

    named = where()
    if is_mqqp(named.server):  # a control plane or a token in the environment is another server's
        return connect(named.server)
    return connect(named.server, control=named.control, token=named.read_token())


def feed_client() -> FeedClient:
    """Return a client for the feeds and batches of that server."""
    from reliquary.client.feed import FeedClient

    named = where()
    return FeedClient(named.server, token=named.read_token() or "")


def where() -> Where:
    """Return the addresses that the command line names; what is no address is refused."""
    from reliquary.client.address import is_address

    named = click.get_current_context().find_object(Where)
    assert named is not None, "the root command says where the server is"
    for address in (named.server, named.control):
        if address is not None and not is_address(address):
            raise click.UsageError(f"{address!r} is not an address such as http://127.0.0.1:8480.")
    return named

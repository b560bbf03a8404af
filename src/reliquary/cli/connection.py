"""Connects a command to its server, as the user of the options.

--server, --control        the addresses of both planes
--token, --token-file      a token; or
--user                     a user, whose password comes from --password-file, from RELIQUARY_PASSWORD,
                           or from the person at the terminal; no option holds the password itself,
                           because other users of the computer see the options of a process
--ca-file                  whose signature the certificate of an https server must have
--certificate, --key       the client certificate, where the server asks for one
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import TYPE_CHECKING, Final, TypedDict

import click
from click.core import ParameterSource

from reliquary.base.faults import UsageError
from reliquary.client.certificates import ClientCertificates

if TYPE_CHECKING:
    from reliquary.client.feed import FeedClient
    from reliquary.client.sync.manager import Manager

SERVER_VARIABLE = "RELIQUARY_SERVER"
CONTROL_VARIABLE = "RELIQUARY_CONTROL"
TOKEN_VARIABLE = "RELIQUARY_TOKEN"
TOKEN_FILE_VARIABLE = "RELIQUARY_TOKEN_FILE"
USER_VARIABLE = "RELIQUARY_USER"
PASSWORD_VARIABLE = "RELIQUARY_PASSWORD"
PASSWORD_FILE_VARIABLE = "RELIQUARY_PASSWORD_FILE"


@dataclass(frozen=True)
class PlaneAddresses:
    """The addresses of both planes; `control` None is the port after the server's."""

    server: str
    control: str | None
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    """A file with the token, in place of `token`."""
    user: str | None = None
    """The user who authenticates with a password, in place of a token."""
    password_file: Path | None = None
    files: ClientCertificates | None = None
    """The certificates of the command line; None for those that the system trusts."""

    def tls(self) -> SSLContext | None:
        """Return the TLS context of the options; None for the usual one."""
        return None if self.files is None else self.files.context()

    def read_token(self) -> str | None:
        """Return the token that identifies the user to the server; None for anonymous."""
        return self.token if self.token_file is None else read_token_file(self.token_file)

    def read_proof(self) -> Proof:
        """Return the credentials; without a file, a user at the terminal is asked for the password."""
        if self.user is None:
            return Proof(token=self.read_token())
        return Proof(user=self.user, password=_password_of(self.user, self.password_file))


class Proof(TypedDict, total=False):
    """The credentials in the form of `connect`."""

    token: str | None
    user: str
    password: str


def read_token_file(file: Path) -> str:
    """Return the one word in a file; raise UsageError if it cannot be read."""
    words = _text_of("--token-file", file).split()
    if len(words) != 1:
        raise UsageError(f"--token-file {file} holds {len(words)} words, and a token is one")
    return words[0]


def _password_of(user: str, file: Path | None) -> str:
    """Return the password of a user, from the first place that has one."""
    if file is not None:
        lines = _text_of("--password-file", file).splitlines()
        if len(lines) != 1 or not lines[0]:
            raise UsageError(f"--password-file {file} holds {len(lines)} lines, and a password is one")
        return lines[0]
    if PASSWORD_VARIABLE in os.environ:
        return os.environ[PASSWORD_VARIABLE]
    if sys.stdin.isatty():
        return str(click.prompt(f"password of {user}", hide_input=True, err=True))
    raise UsageError(
        f"the user {user} needs a password: --password-file names a file with it, "
        f"{PASSWORD_VARIABLE} holds it, or a person types it at a terminal"
    )


def _text_of(option: str, file: Path) -> str:
    """Return the text of a file; raise UsageError with the option that names it if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        reason = (why.strerror or str(why)) if isinstance(why, OSError) else "it is not text"
        raise UsageError(f"{option} {file} cannot be read: {reason}") from None


WAYS: Final = ("token", "token_file", "user")
"""The options by which a client gives its credentials."""


def chosen_way(context: click.Context) -> str | None:
    """Return the option for credentials; the command line has precedence over the environment."""
    given = [name for name in WAYS if context.params.get(name)]
    by_line = [name for name in given if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    wanted = by_line or given
    if len(wanted) > 1:
        raise click.UsageError("say who you are in one way: with --token, with --token-file or with --user.")
    return wanted[0] if wanted else None


def connected() -> Manager:
    """Return a connection to the server that the command line names."""
    from reliquary.client.address import is_mqqp
    from reliquary.client.sync.manager import connect

    named = where()
    if is_mqqp(named.server):  # a control plane or a token in the environment belongs to another server
        return connect(named.server) if named.user is None else connect(named.server, **named.read_proof())
    return connect(named.server, control=named.control, tls=named.tls(), **named.read_proof())


def feed_client() -> FeedClient:
    """Return a client for the feeds and batches of that server."""
    from reliquary.client.feed import FeedClient

    named = where()
    proof, files = named.read_proof(), named.files or ClientCertificates()
    return FeedClient(
        named.server,
        ca=files.ca_file,
        certificate=files.certificate,
        key=files.key,
        token=proof.get("token") or "",
        user=proof.get("user"),
        password=proof.get("password"),
    )


def where() -> PlaneAddresses:
    """Return the addresses of the command line; refuse invalid ones."""
    from reliquary.client.address import is_address

    named = click.get_current_context().find_object(PlaneAddresses)
    assert named is not None, "the root command says where the server is"
    for address in (named.server, named.control):
        if address is not None and not is_address(address):
            raise click.UsageError(f"{address!r} is not an address such as http://127.0.0.1:8480.")
    return named

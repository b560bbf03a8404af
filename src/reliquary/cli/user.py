"""`reliquary user`: tokens and passwords for the users of a server's settings."""

from __future__ import annotations

import json
import sys
from base64 import urlsafe_b64encode
from hashlib import sha256

import click

from reliquary.cli.examples import examples

role_option = click.option(
    "--role",
    type=click.Choice(["reader", "sender", "receiver", "operator", "administrator"]),
    help="The role: what the user may do with every queue.",
)


@click.group()
def user() -> None:
    """Make tokens and passwords for users."""


@user.command()
@click.argument("name")
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="A group that the user is in.")
@role_option
@click.option("--ntlm", is_flag=True, help="Let the user in over NTLM too; the token is the password.")
@click.option(
    "--ask-password", is_flag=True, help="Let the user in over NTLM too, with a password that is asked for."
)
@examples(
    "reliquary user token alice",
    "reliquary user token alice >> reliquary.toml 2> alice.token",
    "reliquary user token root --group administrators",
    "reliquary user token alice --ntlm",
)
def token(name: str, groups: tuple[str, ...], role: str | None, ntlm: bool, ask_password: bool) -> None:
    """Make a token for the user NAME, and print the settings that make it valid at a server.

    The lines belong into the server's settings file.  The token is for the user, who gives it with
    --token-file or RELIQUARY_TOKEN; it is shown only now.  It goes to stderr: 2> FILE makes the file of
    --token-file.

    Clients of MQQP prove who they are with NTLM, for which the settings need an NT hash: --ntlm makes one
    of the token, --ask-password one of a password that the user has already.  For NTLM the hash is as good
    as the password, so the settings file must be readable by the server alone.
    """
    from reliquary.net.chance import SystemChance
    from reliquary.net.identity.nt_hash import nt_hash
    from reliquary.net.identity.users import User, check_users

    made = urlsafe_b64encode(SystemChance().bits(256).to_bytes(32, "big")).rstrip(b"=").decode()
    known = User(name=name, token_sha256=sha256(made.encode()).hexdigest(), groups=groups)
    check_users((known,))
    password = click.prompt("password", hide_input=True, err=True) if ask_password else made
    click.echo(f"# token of {name}: {made}" if sys.stderr.isatty() else made, err=True)
    click.echo("[[users]]")
    click.echo(f"name = {json.dumps(name)}")
    click.echo(f'token_sha256 = "{known.token_sha256}"')
    if ntlm or ask_password:
        click.echo(f'nt_hash = "{nt_hash(password)}"')
    _echo_more(groups, role)


@user.command()
@click.argument("name")
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="A group that the user is in.")
@role_option
@examples("reliquary user password alice", "reliquary user password alice --role operator < alice.password")
def password(name: str, groups: tuple[str, ...], role: str | None) -> None:
    """Make the settings that let the user NAME log in with a password.

    A person is asked for the password twice; a script gives it as the first line of stdin.  The lines
    hold a hash (argon2id), and belong into the server's settings file.  Clients show name and password
    with HTTP Basic, people type them at the sign-in of the console.
    """
    from reliquary.net.identity.password_hashes import hash_password
    from reliquary.net.identity.users import User, check_users

    if sys.stdin.isatty():
        given = click.prompt("password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        given = sys.stdin.readline().rstrip("\r\n")
    known = User(name=name, password_hash=hash_password(given), groups=groups)
    check_users((known,))
    click.echo("[[users]]")
    click.echo(f"name = {json.dumps(name)}")
    click.echo(f'password_hash = "{known.password_hash}"')
    _echo_more(groups, role)


def _echo_more(groups: tuple[str, ...], role: str | None) -> None:
    if groups:
        click.echo(f"groups = {json.dumps(list(groups))}")
    if role:
        click.echo(f'role = "{role}"')

"""`reliquary user`: tokens for the users of a server's settings."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from hashlib import sha256

import click

from reliquary.cli.examples import examples


@click.group()
def user() -> None:
    """Make tokens for users."""


@user.command()
@click.argument("name")
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="A group that the user is in.")
@examples("reliquary user token alice", "reliquary user token root --group administrators")
def token(name: str, groups: tuple[str, ...]) -> None:
    """Make a token for the user NAME, and the lines that let a server know it.

    The lines belong into the server's settings file.  The token is for the user, who gives it with
    --token or RELIQUARY_TOKEN; it is shown only now.
    """
    from reliquary.net.chance import SystemChance
    from reliquary.net.identity.users import User, check_users

    made = urlsafe_b64encode(SystemChance().bits(256).to_bytes(32, "big")).rstrip(b"=").decode()
    known = User(name=name, token_sha256=sha256(made.encode()).hexdigest(), groups=groups)
    check_users((known,))
    click.echo(f"# token of {name}: {made}", err=True)
    click.echo("[[users]]")
    click.echo(f"name = {json.dumps(name)}")
    click.echo(f'token_sha256 = "{known.token_sha256}"')
    if groups:
        click.echo(f"groups = {json.dumps(list(groups))}")

"""Makes the Authorization header of requests: a bearer token, or the name and password of a user.

token            Bearer TOKEN                    RFC 6750
user, password   Basic base64(user:password)     RFC 7617, in UTF-8
none of these    no header: the client is anonymous
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Final

from reliquary.client.errors import BadRequest

TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""The form of a bearer token, RFC 6750 2.1."""


def checked_token(token: str | None) -> str | None:
    """Return a token that can be sent, or None."""
    if token is not None and not TOKEN.fullmatch(token):
        raise BadRequest(
            "INVALID_PARAMETER",
            "the token has a wrong character: a token is made of letters, digits and -._~+/=",
        )
    return token


def authorization_of(
    token: str | None = None, user: str | None = None, password: str | None = None
) -> str | None:
    """Return the value of the header; None for an anonymous client.

    >>> authorization_of("abc"), authorization_of(user="alice", password="open:now")
    ('Bearer abc', 'Basic YWxpY2U6b3Blbjpub3c=')
    """
    if user is None and password is None:
        known = checked_token(token)
        return None if known is None else f"Bearer {known}"
    if token is not None:
        raise BadRequest("INVALID_PARAMETER", "a client has a token, or a user and a password, not both")
    if not user or not password:
        raise BadRequest("INVALID_PARAMETER", "user and password belong together, and one of them is missing")
    if ":" in user or not (user + password).isprintable():
        why = "a user's name has no colon, and neither name nor password has control characters"
        raise BadRequest("INVALID_PARAMETER", why)
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"

"""Reads a target: the address of a server, an address of queues to be read over MQQP, or a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from reliquary.client.errors import BadRequest

DEFAULT: Final = "http://127.0.0.1:8480"


def is_address(target: str | Path) -> bool:
    """Return whether a target is a server's address and not a folder.

    >>> is_address("http://127.0.0.1:8480"), is_address("data/queues")
    (True, False)
    """
    if isinstance(target, str) and re.fullmatch(r"[\w.-]+:\d+", target):
        raise BadRequest(
            "INVALID_PARAMETER", f"{target!r} is no folder's name: did you mean http://{target}?"
        )
    return isinstance(target, str) and "://" in target


def control_of(address: str) -> str:
    """Return the address of the control plane for a data plane: the next port.

    >>> control_of("http://127.0.0.1:8480")
    'http://127.0.0.1:8481'
    """
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as why:
        raise BadRequest("INVALID_PARAMETER", f"{address!r} is not an address: {why}") from why
    if not parts.hostname or port is None:
        raise BadRequest("INVALID_PARAMETER", f"{address!r} must be like http://host:port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return urlunsplit((parts.scheme, f"{host}:{port + 1}", parts.path, "", ""))


@dataclass(frozen=True, slots=True)
class MqqpAddress:
    """Queues of another manager, or one of them: `mqqp://[user:password@]host[:port][/queue]`."""

    host: str
    port: int = 0
    """The port of qmcomm; 0 if it must be found."""
    queue: str = ""
    user: str = ""
    password: str = field(default="", repr=False)


def is_mqqp(target: str | Path) -> bool:
    """Return whether a target names queues that are read over MQQP."""
    return isinstance(target, str) and target.casefold().startswith("mqqp://")


def mqqp_address(target: str, user: str | None = None, password: str | None = None) -> MqqpAddress:
    """Read an address of MQQP; `user` and `password` have precedence over those in the address.

    >>> mqqp_address("mqqp://far/private$/orders")
    MqqpAddress(host='far', port=0, queue='private$/orders', user='')
    """
    try:
        parts = urlsplit(target)
        host, port, queue = parts.hostname, parts.port or 0, unquote(parts.path, errors="strict").lstrip("/")
        user = unquote(parts.username or "") if user is None else user
        password = unquote(parts.password or "") if password is None else password
    except ValueError as why:
        raise BadRequest("INVALID_PARAMETER", f"this is not an address of MQQP: {why}") from why
    if not host or parts.query or parts.fragment:
        wanted = "mqqp://host[:port]/private$/queue"
        raise BadRequest("INVALID_PARAMETER", f"an address of MQQP must be like {wanted}")
    if bool(user) != bool(password):
        raise BadRequest("INVALID_PARAMETER", "user and password belong together, and one of them is missing")
    return MqqpAddress(host, port, queue, user, password)

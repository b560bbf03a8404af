"""What a target names: a server by its address, or a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from reliquary.client.errors import BadRequest

DEFAULT: Final = "http://127.0.0.1:8480"


def is_address(target: str | Path) -> bool:
    """Whether a target is a server's address and not a folder.

    >>> is_address("http://127.0.0.1:8480"), is_address("data/queues")
    (True, False)
    """
    if isinstance(target, str) and re.fullmatch(r"[\w.-]+:\d+", target):
        raise BadRequest(
            "INVALID_PARAMETER", f"{target!r} is no folder's name: did you mean http://{target}?"
        )
    return isinstance(target, str) and "://" in target


def control_of(address: str) -> str:
    """The control plane that goes with a data plane: the next port.

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

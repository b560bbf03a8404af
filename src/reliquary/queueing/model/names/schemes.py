r"""Defines the words after `DIRECT=` that say how a queue is reached, [MS-MQMQ] 2.1.2.

    DIRECT=OS:host\private$\orders      OS, TCP, IPX, SPX: an address, a backslash, the queue's path
    DIRECT=HTTP://host/msmq/orders      HTTP, HTTPS: a URL, whose path the specification defines
    DIRECT=WORD://host/anything#queue   a URL whose path a protocol defines; the protocol registers WORD

The first two kinds are always known.  A protocol that defines names calls `register` when its module is
imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote


def _as_written(path: str) -> str:
    return path


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """One word after `DIRECT=`, and the rules for reading the rest of the name."""

    word: str
    """The word in upper case, such as HTTP."""
    default_port: str = ""
    """The port of a URL that names none; empty for a scheme whose names are not URLs."""
    queue_path: Callable[[str], str] = _as_written
    r"""Takes the text after the address and returns the path name at the manager: `private$\orders`."""
    opaque: bool = False
    """Only the protocol can read the text after the address, so names are compared as they are written."""

    @property
    def is_url(self) -> bool:
        """Return whether the name is a URL; messages can be sent to a URL, and not read from it."""
        return bool(self.default_port)


def _path_of_http(path: str) -> str:
    """Return the queue in `/msmq/private$/orders?query`; empty when the path does not begin with msmq."""
    head, _, rest = re.split("[?#]", path, maxsplit=1)[0].lstrip("/").partition("/")
    return unquote(rest.replace("/", "\\"), errors="strict") if head.casefold() == "msmq" else ""


TCP: Final = Scheme("TCP")
OS: Final = Scheme("OS")
HTTP: Final = Scheme("HTTP", "80", _path_of_http)
HTTPS: Final = Scheme("HTTPS", "443", _path_of_http)
IPX: Final = Scheme("IPX")
SPX: Final = Scheme("SPX")

SCHEMES: Final[dict[str, Scheme]] = {each.word: each for each in (TCP, OS, HTTP, HTTPS, IPX, SPX)}
"""All known schemes, by their words."""


def register(scheme: Scheme) -> Scheme:
    """Add a scheme, so that names with its word can be read; a word belongs to one protocol."""
    assert scheme.word not in SCHEMES, f"two protocols register names with DIRECT={scheme.word}"
    assert scheme.is_url, f"DIRECT={scheme.word} needs a default port: only URLs can be registered"
    SCHEMES[scheme.word] = scheme
    return scheme


def is_bare_url(text: str) -> bool:
    """Return whether a text is a URL of an opaque scheme without `DIRECT=` before it."""
    word, found, _ = text.partition("://")
    scheme = SCHEMES.get(word.upper()) if found else None
    return scheme is not None and scheme.opaque

"""Reads and writes format names of WS-RM endpoints: `DIRECT=WSRM://host[:port]/path`, WSRMS over TLS.

Only the endpoint understands the text after the host.  For a Reliquary manager it is `/wsrm/<queue>`.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

from reliquary.queueing.model.names.formats import DirectName, SingleName
from reliquary.queueing.model.names.schemes import Scheme, register

ENDPOINT_PATH: Final = "/wsrm/"
"""The path under which a manager's endpoints are found."""
BACK: Final = "anonymous.invalid"
"""The host in names of sequences to clients without an address, whose messages leave on responses."""


def _queue_path(path: str) -> str:
    r"""Return `private$\\orders` for `/wsrm/private$/orders`; empty for a foreign endpoint."""
    head, found, rest = path.partition("?")[0].partition(ENDPOINT_PATH)
    return unquote(rest, errors="replace").replace("/", "\\") if found and not head else ""


WSRM: Final = register(Scheme("WSRM", "80", _queue_path, opaque=True))
WSRMS: Final = register(Scheme("WSRMS", "443", _queue_path, opaque=True))
WORDS: Final = (WSRM.word, WSRMS.word)
_CONTACTED_BY: Final = {WSRM: "http", WSRMS: "https"}


def names_endpoint(name: SingleName) -> bool:
    """Return whether a name is that of a WS-RM endpoint."""
    return isinstance(name, DirectName) and name.scheme in (WSRM, WSRMS)


def url_of(name: DirectName) -> str:
    """Return the URL of an endpoint."""
    return f"{_CONTACTED_BY[name.scheme]}://{name.address}{name.path.partition('#')[0]}"


def name_of_url(url: str) -> str:
    """Return the format name of the endpoint at an http or https URL; empty for other URLs."""
    scheme, found, rest = url.partition("://")
    word = {"http": WSRM.word, "https": WSRMS.word}.get(scheme.lower())
    return f"DIRECT={word}://{rest}" if found and word and rest else ""


def offered_name(identifier: str, url: str) -> str:
    """Return the name under which messages go into a sequence that a client offered.

    `url` is the address of the client; empty for one that cannot be reached.
    """
    offered = quote(identifier, safe="")
    return f"{name_of_url(url)}#{offered}" if url else f"DIRECT={WSRM.word}://{BACK}/{offered}"


def offered_in(name: DirectName) -> str:
    """Return the identifier of the offered sequence in a name of this scheme; empty for other names."""
    if name.authority == BACK:
        return unquote(name.path.lstrip("/"))
    return unquote(name.path.partition("#")[2])

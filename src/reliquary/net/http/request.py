"""Defines the request that a handler gets: a parsed head and a complete body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote_to_bytes

import httptools
import msgspec

from reliquary.base.faults import PeerFault
from reliquary.net.http.headers import Headers, find, lowered

if TYPE_CHECKING:
    from reliquary.net.http.mounts import Mount

MOST_PARAMETERS = 100


class HeadNotes(msgspec.Struct, gc=False):
    """Results from the head of a request alone; all requests with these bytes share them."""

    route: Any = None
    """For the handler of the mount: the route and the user of the request; None before they are known."""
    forms: Any = None
    """For that handler: the form of the body and of the answer; None before they are known."""
    trace_context: str = ""
    """For that handler: the trace of the request."""


class Request(msgspec.Struct, gc=False, eq=False):
    """One request: its head, and its body if all of it has come."""

    method: str
    path: str
    """The percent-decoded path, without the query."""
    query: bytes
    """The query in the form in which it came, without the question mark."""
    fields: Headers
    """The header fields in the order in which they came, names in any case."""
    body: bytes
    connection: int
    """The number of the connection, which never changes."""
    keep_alive: bool
    mount: Mount
    """The mount of the path: its handler takes the request, and its `admit` returns the user."""
    peer: str = ""
    """The client's address; empty if it is unknown."""
    notes: HeadNotes = msgspec.field(default_factory=HeadNotes)

    @property
    def headers(self) -> Headers:
        """All fields in the order in which they came, with names in lower case."""
        return lowered(self.fields)

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header, or None; `name` is in lower case."""
        return find(self.fields, name)

    def parameters(self) -> dict[str, str]:
        """Return the query as names and values; a name that comes twice is refused with PeerFault."""
        try:
            pairs = parse_qsl(
                self.query.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS
            )
        except ValueError as why:
            raise PeerFault(400, f"the query cannot be read: {why}", spec="RFC 3986 3.4") from why
        found = dict(pairs)
        if len(found) != len(pairs):
            raise PeerFault(400, "a parameter of the query is given twice", spec="RFC 3986 3.4")
        return found

    def __repr__(self) -> str:
        return f"<Request {self.method} {self.path} {len(self.body)} bytes>"


def split_target(target: bytes) -> tuple[str, bytes]:
    """Return the decoded path and the raw query of a request target.

    >>> split_target(b"/msmq/private%24/q?wait=1")
    ('/msmq/private$/q', b'wait=1')
    """
    if not target.startswith(b"/"):  # absolute form, RFC 9112 3.2.2, or the asterisk of OPTIONS
        target = _without_authority(target)
    path, _, query = target.partition(b"?")
    try:
        return unquote_to_bytes(path).decode(), query
    except UnicodeDecodeError as why:
        raise PeerFault(400, "the path is not UTF-8 after percent-decoding", spec="RFC 3986 2.5") from why


def _without_authority(target: bytes) -> bytes:
    if target == b"*":
        return target
    try:
        url = httptools.parse_url(target)
    except httptools.HttpParserInvalidURLError as why:
        raise PeerFault(400, "the request target is not a URL", spec="RFC 9112 3.2") from why
    return (url.path or b"/") + (b"?" + url.query if url.query else b"")

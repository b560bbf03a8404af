"""A request as the handler sees it: head understood, body whole."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote_to_bytes

import httptools

from reliquary.base.faults import PeerFault
from reliquary.net.http.headers import Headers, find, lowered

if TYPE_CHECKING:
    from reliquary.net.http.mounts import Mount

MOST_PARAMETERS = 100


class Request:
    """One request.  `connection` is a number that stays the same as long as its connection lives."""

    __slots__ = (
        "_lowered",
        "body",
        "connection",
        "fields",
        "keep_alive",
        "method",
        "mount",
        "path",
        "peer",
        "query",
    )

    def __init__(
        self,
        method: str,
        path: str,
        query: bytes,
        raw_headers: Headers,
        body: bytes,
        connection: int,
        keep_alive: bool,
        mount: Mount,
        peer: str = "",
    ) -> None:
        self.method = method
        self.path = path
        """Percent-decoded, without the query."""
        self.query = query
        """As it came, without the question mark."""
        self.body = body
        self.connection = connection
        self.keep_alive = keep_alive
        self.mount = mount
        """Under which the path is: its handler takes the request, its `admit` says who asks."""
        self.fields = raw_headers
        """Header fields in the order they came, names in any case."""
        self.peer = peer
        """The client's address; empty where it is not known."""
        self._lowered: Headers | None = None

    @property
    def headers(self) -> Headers:
        """All fields in the order they came, names in lower case."""
        if self._lowered is None:
            self._lowered = lowered(self.fields)
        return self._lowered

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header, or None; `name` is in lower case."""
        return find(self.fields, name)

    def parameters(self) -> dict[str, str]:
        """The query as names and values; a name that comes twice is the peer's fault."""
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
    """The decoded path and the raw query of a request target.

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

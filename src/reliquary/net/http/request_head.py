"""Formats the heads of outgoing requests.

A program sends few different heads many times, so each is checked and formatted once and then cached.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from reliquary.base.faults import UsageError
from reliquary.net.http.headers import end_of_head, find, format_headers

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 5.6.2
_TARGET: Final = re.compile(r"/[!-~]*")
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"})

Fields = tuple[tuple[bytes, bytes], ...]


@lru_cache(maxsize=1024)
def target_and_host(url: str) -> tuple[str, bytes]:
    """Return the request target of a URL, and the value of its Host field."""
    parts = urlsplit(url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return target, parts.netloc.rpartition("@")[2].encode("ascii")


def authorization(url: str, credentials: Mapping[str, str]) -> Fields:
    """Return the Authorization field for the server of a URL; no field if there is none for its origin.

    >>> authorization("https://host/q", {"https://host": "Bearer secret"})
    ((b'authorization', b'Bearer secret'),)
    """
    parts = urlsplit(url)
    value = credentials.get(f"{parts.scheme}://{parts.netloc}")
    return () if value is None else ((b"authorization", value.encode()),)


def encode_request(
    method: str,
    target: str,
    host: bytes,
    headers: Fields,
    body: bytes,
    behind: bytes = b"",
) -> bytes:
    """Return a request as bytes; `behind` are formatted header lines after Content-Length."""
    start = _start(method, target, host, headers)
    if not body and method in _BODILESS:
        return start + b"\r\n"
    if behind:
        return b"".join((start, b"Content-Length: %d\r\n" % len(body), behind, b"\r\n", body))
    return b"".join((start, end_of_head(len(body)), body))


def encode_chunked_head(method: str, target: str, host: bytes, headers: Fields) -> bytes:
    """Return the head of a request whose body follows in chunks."""
    return _start(method, target, host, headers) + b"transfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Return a part of a chunked body; it must not be empty, because an empty chunk ends the body."""
    assert data, "an empty chunk would be the last one"
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK: Final = b"0\r\n\r\n"


@lru_cache(maxsize=1024)
def _start(method: str, target: str, host: bytes, headers: Fields) -> bytes:
    if not _TOKEN.fullmatch(method):
        raise UsageError(f"{method!r} is no HTTP method")
    if not _TARGET.fullmatch(target):
        raise UsageError(f"the path {target!r} must begin with / and be percent-encoded")
    for name in (b"content-length", b"transfer-encoding"):
        if find(headers, name) is not None:
            raise UsageError(f"{name.decode()} is set from the body, not by the caller")
    own = () if find(headers, b"host") is not None else ((b"host", host),)
    return f"{method} {target} HTTP/1.1\r\n".encode() + format_headers(own + headers)

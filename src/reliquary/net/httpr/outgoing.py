"""Requests of HTTPR as bytes: small ones in one piece, those with large bodies piece by piece.

POST /service HTTP/1.1         POST /service HTTP/1.1
content-length: ...            transfer-encoding: chunked

| header | batch |             | header, messages | piece | piece | rest, terminator |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from reliquary.net.http import request_head
from reliquary.net.http.request_head import encode_chunked_head
from reliquary.protocols.httpr.codec.encode import END_OF_MESSAGE, TERMINATOR, batch_bytes, message_head
from reliquary.protocols.httpr.codec.headers import encode_request
from reliquary.protocols.httpr.codec.values import SENDS, Disposition
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.mapping import carried_of

HEADERS: Final = ((b"content-type", b"application/octet-stream"),)
ENOUGH: Final = 64 * 1024
"""Small messages between large ones leave together, once they are so many bytes."""

ReadPiece = Callable[[int, int], bytes]


def is_large(request: SendRequest) -> bool:
    """Whether a body of its batch lies in pieces on disk."""
    return any(message.stored_body is not None for message in request.batch)


def whole(request: SendRequest, home: str) -> bytes:
    """Head and body of a request without large bodies; others reach our queues under the URI `home`."""
    body = encode_request(request.header)
    if request.header.command in SENDS:
        body += batch_bytes([carried_of(message, home) for message in request.batch])
    target, host = _address(request.url)
    return request_head.encode_request("POST", target, host, HEADERS, body)


def chunked_head(request: SendRequest) -> bytes:
    """The head of one whose body follows in chunks."""
    target, host = _address(request.url)
    return encode_chunked_head("POST", target, host, HEADERS)


def pieces(request: SendRequest, home: str, read: ReadPiece) -> Iterator[bytes]:
    """The body, no more of it at once than a piece and a few small messages."""
    ready = bytearray(encode_request(request.header))
    for message in request.batch:
        header, body = carried_of(message, home)
        stored = message.stored_body
        ready += message_head(header, len(body) if stored is None else stored.size) + body
        if stored is not None:
            for index in range(stored.pieces):
                yield bytes(ready) + read(stored.spool, index)
                ready.clear()
        ready += END_OF_MESSAGE
        if len(ready) >= ENOUGH:
            yield bytes(ready)
            ready.clear()
    yield bytes(ready) + TERMINATOR[Disposition.LAST]


@lru_cache(maxsize=1024)
def _address(url: str) -> tuple[str, bytes]:
    """What is asked for, and whom: the path, and the Host field."""
    parts = urlsplit(url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return target, parts.netloc.rpartition("@")[2].encode("ascii")

"""Encodes requests of HTTPR: small ones in one piece, others in chunks.

POST /service HTTP/1.1         POST /service HTTP/1.1
content-length: ...            transfer-encoding: chunked

| header | batch |             | header, messages | piece | piece | rest, terminator |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reliquary.net.http import request_head
from reliquary.net.http.request_head import Fields, encode_chunked_head, target_and_host
from reliquary.net.httpr import batches
from reliquary.net.httpr.batches import ReadPiece
from reliquary.protocols.httpr.codec.headers import encode_request
from reliquary.protocols.httpr.codec.values import SENDS
from reliquary.protocols.httpr.effects import SendRequest

HEADERS: Final[Fields] = ((b"content-type", b"application/octet-stream"),)


def whole(request: SendRequest, home: str, headers: Fields = HEADERS) -> bytes:
    """Return head and body of a request without large bodies; `home` is the URI of our agent."""
    body = encode_request(request.header)
    if request.header.command in SENDS:
        body = batches.whole(body, request.batch, home)
    target, host = target_and_host(request.url)
    return request_head.encode_request("POST", target, host, headers, body)


def chunked_head(request: SendRequest, headers: Fields = HEADERS) -> bytes:
    """Return the head of a request whose body follows in chunks."""
    target, host = target_and_host(request.url)
    return encode_chunked_head("POST", target, host, headers)


def pieces(request: SendRequest, home: str, read: ReadPiece) -> Iterator[bytes]:
    """Yield the body of a request, a part at a time."""
    return batches.pieces(encode_request(request.header), request.batch, home, read)

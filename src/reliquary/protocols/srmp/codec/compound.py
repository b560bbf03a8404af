"""Builds a message for sending: the body of a POST, or a whole multicast datagram ([MC-MQSRM] 2.2.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from uuid import UUID

from reliquary.protocols.srmp.codec.lexical import guid_text
from reliquary.protocols.srmp.codec.values import Compound

BOUNDARIES: Final = 100_000
"""MIME boundaries are numbered below this, as in Windows; a queue keeps its number."""


def compound(
    envelope: str, body: bytes, extension: bytes, source: UUID, number: int, *, windows: bool = False
) -> Compound:
    """Return envelope, body and extension together; without body and extension the envelope alone (G-04).

    `number` is for the boundary, or the next number that does not occur in the contents: some readers
    ignore lengths.  With `windows` there is no CRLF before a delimiter, and one after the last.
    """
    data = envelope.encode()
    if not body and not extension:
        return Compound(content_type="text/xml", body=data)
    gap = b"" if windows else b"\r\n"
    content_type, delimiter = _boundary(number)
    while delimiter in data or delimiter in body or delimiter in extension:
        number += 1
        content_type, delimiter = _boundary(number)
    parts = [
        delimiter,
        b"\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: %d\r\n\r\n" % len(data),
        data,
    ]
    if body:
        parts += (gap, delimiter, _part_head("body", len(body), guid_text(source)), body)
    if extension:
        parts += (gap, delimiter, _part_head("extension", len(extension), guid_text(source)), extension)
    parts += (gap, delimiter, b"--\r\n" if windows else b"--")
    return Compound(content_type=content_type, body=b"".join(parts))


@lru_cache(maxsize=256)
def _boundary(number: int) -> tuple[str, bytes]:
    """Return the content type that names the boundary of this number, and its delimiter."""
    boundary = f"MSMQ - SOAP boundary, {number}"
    return f'multipart/related; boundary="{boundary}"; type=text/xml', f"--{boundary}".encode()


@lru_cache(maxsize=256)
def _part_head(name: str, length: int, source: str) -> bytes:
    """Return the header fields of a part; messages of one length have one head."""
    return (
        f"\r\nContent-Type: application/octet-stream\r\nContent-Length: {length}\r\n"
        f"Content-Id: {name}@{source}\r\n\r\n"
    ).encode()


def apdu(address: str, compound: Compound) -> bytes:
    """Return the datagram for a multicast address, `ip:port`: the head of a POST and the body."""
    head = (
        f"POST {address} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {compound.content_type}\r\n"
        f'Content-Length: {len(compound.body)}\r\nSOAPAction: "MSMQMessage"\r\n'
        "Proxy-Accept: NonInteractiveClient\r\n\r\n"
    )
    return head.encode() + compound.body

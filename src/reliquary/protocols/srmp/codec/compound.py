"""A message as it goes: the body of a POST, and all of it for multicast ([MC-MQSRM] 2.2.2)."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.protocols.srmp.codec.lexical import guid_text
from reliquary.protocols.srmp.codec.values import Compound

BOUNDARIES: Final = 100_000
"""MIME boundaries are numbered below this, as Windows does; a queue keeps its number."""


def compound(
    envelope: str, body: bytes, extension: bytes, source: UUID, number: int, *, windows: bool = False
) -> Compound:
    """Envelope, body and extension as one; without body and extension the envelope alone (G-04).

    `number` is for the boundary, or the next one that the contents leave free: not all who read it go by
    lengths.  With `windows` there is no CRLF before a delimiter, and one after the last.
    """
    data = envelope.encode()
    if not body and not extension:
        return Compound(content_type="text/xml", body=data)
    gap = b"" if windows else b"\r\n"
    boundary, delimiter = _boundary(number)
    while delimiter in data or delimiter in body or delimiter in extension:
        number += 1
        boundary, delimiter = _boundary(number)
    parts = [
        delimiter,
        b"\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: %d\r\n\r\n" % len(data),
        data,
    ]
    for name, content in (("body", body), ("extension", extension)):
        if content:
            head = (
                f"\r\nContent-Type: application/octet-stream\r\nContent-Length: {len(content)}\r\n"
                f"Content-Id: {name}@{guid_text(source)}\r\n\r\n"
            )
            parts += (gap, delimiter, head.encode(), content)
    parts += (gap, delimiter, b"--\r\n" if windows else b"--")
    content_type = f'multipart/related; boundary="{boundary}"; type=text/xml'
    return Compound(content_type=content_type, body=b"".join(parts))


def _boundary(number: int) -> tuple[str, bytes]:
    boundary = f"MSMQ - SOAP boundary, {number}"
    return boundary, f"--{boundary}".encode()


def apdu(address: str, compound: Compound) -> bytes:
    """Return the datagram for a multicast address, `ip:port`: the body behind the head of a POST."""
    head = (
        f"POST {address} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {compound.content_type}\r\n"
        f'Content-Length: {len(compound.body)}\r\nSOAPAction: "MSMQMessage"\r\n'
        "Proxy-Accept: NonInteractiveClient\r\n\r\n"
    )
    return head.encode() + compound.body

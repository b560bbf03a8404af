"""Reads and writes an envelope with attachments in MIME parts: SOAP with Attachments, and MTOM.

    multipart/related; type="text/xml"; start="<envelope@reliquary>"               SOAP with Attachments
    multipart/related; type="application/xop+xml"; start-info="text/xml"; ...      MTOM

The elements xop:Include of MTOM stay unchanged in the content, and name the attachments.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

from reliquary.protocols.wsrm.codec.values import Attachment, Payload
from reliquary.wire.mime import MediaType, MimeFault, Part, media_type, split

MULTIPART: Final = "multipart/related"
XOP: Final = "application/xop+xml"
XML: Final = ("text/xml", "application/soap+xml", "application/xml")
ROOT: Final = "envelope@reliquary"
"""The Content-Id of the part with the envelope."""
_CHARSETS: Final = ("", "utf-8", "utf8", "us-ascii")
_LONGEST_TYPE: Final = 8192


class Parts(NamedTuple):
    """The parts of a body."""

    envelope: bytes
    attachments: tuple[Attachment, ...] = ()
    start_type: str = ""
    """The `type` of an envelope in MTOM; empty for other envelopes."""


def parts_of(content_type: str, body: bytes) -> Parts:
    """Return the envelope and its attachments; MimeFault for a body that contradicts its content type."""
    if len(content_type) > _LONGEST_TYPE:  # the parsed content type is cached
        raise MimeFault(
            "Content-Type", f"a Content-Type has at most {_LONGEST_TYPE} characters, not {len(content_type)}"
        )
    kind = media_type(content_type)
    if kind.kind != MULTIPART:
        _check(kind, XML)
        return Parts(body)
    parts = split(body, kind.boundary)
    root = _root(parts, kind.start)
    own = media_type(root.content_type[:_LONGEST_TYPE])
    _check(own, (*XML, XOP))
    attachments = tuple(
        Attachment(part.content_type, part.content_id.strip("<>"), part.data)
        for part in parts
        if part is not root
    )
    start_type = (own.root_type.partition(";")[0] or XML[0]) if own.kind == XOP else ""
    return Parts(root.data, attachments, start_type)


def _check(kind: MediaType, kinds: tuple[str, ...]) -> None:
    if kind.kind not in kinds or kind.charset not in _CHARSETS:
        raise MimeFault(
            "Content-Type", f"an envelope is {' or '.join(kinds)} in UTF-8, not {kind.kind[:80]!r}"
        )


def _root(parts: list[Part], start: str) -> Part:
    if not start:
        return parts[0]
    for part in parts:
        if part.content_id.strip("<>") == start.strip("<>"):
            return part
    raise MimeFault("Content-Type", "there is no part that `start` names")


def joined(envelope: bytes, content_type: str, action: str, payload: Payload) -> tuple[str, bytes]:
    """Return Content-Type and bytes of an envelope with attachments.

    `content_type` is that of the envelope alone, `action` belongs to it in SOAP 1.2 or is empty.
    """
    kind = content_type.partition(";")[0]
    root_type, info = kind, ""
    own = f"{kind}; charset=utf-8"
    if payload.start_type:
        root_type, info = XOP, f'; start-info="{kind}"'
        own = f'{XOP}; charset=utf-8; type="{kind}"'
    boundary = _boundary(envelope, payload.attachments)
    delimiter = f"--{boundary}"
    parts = [_head(delimiter, own, ROOT), envelope]
    for each in payload.attachments:
        parts += (b"\r\n", _head(delimiter, each.content_type, each.content_id), each.data)
    parts.append(f"\r\n{delimiter}--\r\n".encode())
    related = f'{MULTIPART}; type="{root_type}"{info}; start="<{ROOT}>"; boundary="{boundary}"'
    return (f'{related}; action="{action}"' if action else related), b"".join(parts)


def _head(delimiter: str, content_type: str, content_id: str) -> bytes:
    """Return the head of a part, without Content-Length, which not all readers of parts know."""
    text = f"{delimiter}\r\nContent-Type: {content_type}\r\nContent-Transfer-Encoding: binary\r\n"
    if content_id:
        text += f"Content-ID: <{content_id}>\r\n"
    return f"{text}\r\n".encode("latin-1")


def _boundary(envelope: bytes, attachments: tuple[Attachment, ...]) -> str:
    """Return a boundary that occurs in none of the parts; it depends only on the parts.

    The envelope cannot contain it, because it is made from the digest of the envelope.
    """
    digest = blake2b(envelope, digest_size=12)
    while True:
        boundary = f"reliquary-{digest.hexdigest()}"
        raw = boundary.encode()
        if not any(raw in each.data for each in attachments):
            return boundary
        digest.update(b".")

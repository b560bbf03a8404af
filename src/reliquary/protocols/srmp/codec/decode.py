"""Decodes a message from an HTTP body or an APDU: it separates the parts and reads the envelope's header.

Bytes that are no message raise `SrmpFault`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from reliquary.protocols.srmp.codec.canonical import Known, canonical, canonical_envelope
from reliquary.protocols.srmp.codec.elements import Header, read_blocks
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.header import read_header
from reliquary.protocols.srmp.codec.recurring import recurring, remember
from reliquary.protocols.srmp.codec.values import Arrived, Envelope
from reliquary.wire.mime import LENGTH_DIGITS, MediaType, MimeFault, Part, fields_of, media_type, split
from reliquary.wire.soap import SoapFault, header_of

MULTIPART: Final = "multipart/related"
XML: Final = "text/xml"
_CHARSETS: Final = ("", "utf-8", "utf8", "us-ascii")
_HTTP_HEAD_LIMIT: Final = 8 * 1024


def decode(content_type: str, body: bytes, *, largest: int) -> Arrived:
    """Return the message in a POST; `largest` is the most bytes that a message may have."""
    if len(body) > largest:
        raise SrmpFault(
            "the message", f"a message has at most {largest} bytes, this one {len(body)}", spec="MC-MQSRM 1.6"
        )
    known = recurring(content_type, body)
    if known is not None:
        return known
    try:
        kind = media_type(content_type)
        if kind.kind == XML:
            return _arrived(body, kind, ())[0]
        if kind.kind != MULTIPART:
            raise MimeFault("Content-Type", f"{content_type[:80]!r} is neither {MULTIPART} nor {XML}")
        root, *others = split(body, kind.boundary)
        arrived, repeats = _arrived(root.data, media_type(root.content_type), others)
        if repeats is not None and arrived.has_body and len(others) == 1:
            remember(content_type, body, kind.boundary, repeats, arrived)
        return arrived
    except MimeFault as fault:
        raise SrmpFault(fault.part, fault.why, spec=fault.spec) from None


def decode_apdu(data: bytes, *, largest: int) -> Arrived:
    """Return the message in a multicast datagram.

    A POST whose head is used only for its content fields (2.1.2).
    """
    head, found, body = data.partition(b"\r\n\r\n")
    if not found or len(head) > _HTTP_HEAD_LIMIT:
        raise SrmpFault("the APDU", "it does not begin with the head of a POST", spec="MC-MQSRM 2.1.2")
    try:
        fields = fields_of(head.partition(b"\r\n")[2], "the APDU")
    except MimeFault as fault:
        raise SrmpFault(fault.part, fault.why, spec=fault.spec) from None
    length = fields.get("content-length", str(len(body)))
    if not (length.isascii() and length.isdigit() and len(length) <= LENGTH_DIGITS) or int(length) > len(
        body
    ):
        raise SrmpFault(
            "Content-Length",
            f"{length[:20]!r} bytes are announced, and {len(body)} came",
            spec="MC-MQSRM 2.1.2",
        )
    return decode(fields.get("content-type", ""), body[: int(length)], largest=largest)


def decode_envelope(text: str | bytes) -> Envelope:
    """Read an SRMP envelope; raise SrmpFault if it is not valid."""
    if isinstance(text, bytes):
        text = _decoded(text)
    return canonical_envelope(text) or read_header(parsed_blocks(text))


def parsed_blocks(text: str) -> Header:
    """Return the blocks of any envelope."""
    try:
        data = text.encode()
        return read_blocks(header_of(data), data)
    except UnicodeEncodeError:
        raise SrmpFault("Envelope", "half of a surrogate pair is no character", spec="MC-MQSRM 2.2") from None
    except SoapFault as fault:
        raise SrmpFault(fault.element, fault.why, spec=fault.spec) from None


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as why:
        raise SrmpFault("Envelope", f"the envelope is not UTF-8: {why.reason}", spec="MC-MQSRM 2.2") from None


def _arrived(data: bytes, kind: MediaType, others: list[Part] | tuple[()]) -> tuple[Arrived, Known | None]:
    """Return the message, and the part of its envelope that senders repeat; None for an unusual envelope."""
    if kind.kind != XML or kind.charset not in _CHARSETS:
        raise MimeFault("Content-Type", "an envelope must be text/xml in UTF-8")
    text = _decoded(data)
    envelope, known = canonical(text) or (read_header(parsed_blocks(text)), None)
    repeated = None if known is None else known.repeated
    if not others:
        return Arrived(envelope=envelope, text=text, repeated=repeated), known
    contents = _contents(others)
    if contents and (envelope.delivery_receipt or envelope.commitment_receipt or envelope.stream_receipt):
        raise SrmpFault("the MIME body", "a receipt must not have a payload", spec="MC-MQSRM 2.2.2")  # SR-022
    arrived = Arrived(
        envelope=envelope,
        text=text,
        body=contents.get("body", b""),
        extension=contents.get("extension", b""),
        has_body="body" in contents,
        has_extension="extension" in contents,
        repeated=repeated,
    )
    return arrived, known


def _contents(parts: list[Part] | tuple[()]) -> dict[str, bytes]:
    """Return body and extension; parts with other names are ignored."""
    contents: dict[str, bytes] = {}
    for part in parts:
        name = _content_of(part.content_id)
        if name in contents:
            raise MimeFault(f"Content-Id: {name}@", f"there are two parts for the {name}")
        if name:
            contents[name] = part.data
    return contents


@lru_cache(maxsize=1024)
def _content_of(content_id: str) -> str:
    """Return `body` or `extension` for the part that has it, empty for a part of another name."""
    name, found, _ = content_id.lstrip("<").lower().partition("@")
    return name if found and name in ("body", "extension") else ""

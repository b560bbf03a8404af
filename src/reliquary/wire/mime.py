r"""Splits bodies of several parts, RFC 2046 and RFC 2387, in the form that queue managers write.

    --boundary CRLF                       the first line, or after a preamble without meaning
    Name: value CRLF ... CRLF
    CRLF
    data [CRLF]                           as many bytes as Content-Length says, of any content;
    --boundary CRLF                       without one, up to the next delimiter behind a CRLF
    ...
    --boundary--

Windows writes no CRLF between the data and the next delimiter, and counts one after the last.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from reliquary.base.faults import PeerFault

SPEC: Final = "RFC 2046 5.1"
PARTS_LIMIT: Final = 16
HEAD_LIMIT: Final = 8 * 1024
"""The largest number of bytes of the header fields of a part."""
FIELDS_LIMIT: Final = 64
LENGTH_DIGITS: Final = 12
BOUNDARY_LIMIT: Final = 70
"""The longest boundary that RFC 2046 5.1.1 allows."""


class MimeFault(PeerFault):
    """Says that a body is not a valid multipart body; `part` names the wrong part."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(400, why, spec=SPEC)
        self.part = part


class MediaType(msgspec.Struct, frozen=True, gc=False):
    """The value of a Content-Type field."""

    kind: str
    """The content type, as `text/xml`, in lower case."""
    boundary: str = ""
    charset: str = ""
    """The charset in lower case; empty where the field has none."""
    start: str = ""
    """The Content-Id of the root part, RFC 2387; empty for the first part."""
    root_type: str = ""
    """The parameter `type`: for a part of type application/xop+xml, the type of its content."""


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part: the header fields that are used, and the data."""

    content_type: str
    content_id: str
    data: bytes


_PARAMETER: Final = re.compile(r';\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))')


@lru_cache(maxsize=1024)
def media_type(value: str) -> MediaType:
    """Parse a Content-Type field; unknown parameters are ignored."""
    kind, _, _ = value.partition(";")
    parameters: dict[str, str] = {}
    for name, quoted, plain in _PARAMETER.findall(value):
        if "\\" in quoted:
            quoted = re.sub(r"\\(.)", r"\1", quoted)  # noqa: PLW2901
        parameters.setdefault(name.lower(), quoted or plain)
    boundary = parameters.get("boundary", "")
    if len(boundary) > BOUNDARY_LIMIT or not boundary.isascii():
        raise MimeFault(
            "Content-Type",
            f"a boundary has at most {BOUNDARY_LIMIT} ASCII characters, not {len(boundary)}",
        )
    return MediaType(
        kind.strip().lower(),
        boundary,
        parameters.get("charset", "").lower(),
        parameters.get("start", ""),
        parameters.get("type", ""),
    )


def fields_of(head: bytes, part: str) -> dict[str, str]:
    """Return header fields by their names in lower case; a folded line belongs to the line before it."""
    text = head.decode("latin-1").replace("\r\n ", " ").replace("\r\n\t", " ")
    lines = text.split("\r\n")
    if len(lines) > FIELDS_LIMIT:
        raise MimeFault(part, f"{part} has more than {FIELDS_LIMIT} header fields")
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.rstrip().lower()
        if not colon or not name:
            raise MimeFault(part, f"{part} has a header line without a name")
        if name in fields and name.startswith("content-"):
            raise MimeFault(part, f"{part} has two {name} fields")
        fields[name] = value.strip()
    return fields


def split(body: bytes, boundary: str) -> list[Part]:
    """Return the parts of a body, in their order."""
    if not boundary:
        raise MimeFault("Content-Type", "a multipart body needs a boundary")
    delimiter, opening, closing = _delimiters(boundary)
    at = 0 if body.startswith(delimiter) else _first_delimiter(body, delimiter)
    parts: list[Part] = []
    while at < len(body):
        if body.startswith(opening, at):
            at += len(opening)
        elif body.startswith(closing, at):
            break
        else:
            at = _after_padded_delimiter(body, at, delimiter)
        if len(parts) == PARTS_LIMIT:
            raise MimeFault("the MIME body", f"a message has at most {PARTS_LIMIT} parts, this one has more")
        part, at = _part(body, at, delimiter, len(parts) + 1)
        parts.append(part)
    if not parts:
        raise MimeFault("the MIME body", "there is no part before the closing delimiter")
    return parts


@lru_cache(maxsize=1024)
def _delimiters(boundary: str) -> tuple[bytes, bytes, bytes]:
    """Return the delimiter alone, the delimiter with its line end, and the delimiter after the last part."""
    delimiter = b"--" + boundary.encode("ascii")
    return delimiter, delimiter + b"\r\n", delimiter + b"--"


def _first_delimiter(body: bytes, delimiter: bytes) -> int:
    """Return the offset of the first delimiter, after a preamble."""
    found = body.find(b"\r\n" + delimiter)
    if found < 0:
        raise MimeFault("the MIME body", "the boundary that Content-Type names does not occur")
    return found + 2


def _after_padded_delimiter(body: bytes, at: int, delimiter: bytes) -> int:
    """Return the offset of a part whose delimiter line has white space at its end."""
    if not body.startswith(delimiter, at):
        raise MimeFault("the MIME body", "behind a part there is no delimiter: its Content-Length is wrong")
    at += len(delimiter)
    end = body.find(b"\r\n", at)
    if end < 0 or body[at:end].strip(b" \t"):
        raise MimeFault("the MIME body", "a delimiter is followed by something else than a line's end")
    return end + 2


def _part(body: bytes, at: int, delimiter: bytes, number: int) -> tuple[Part, int]:
    """Return the part that begins here, and the offset of the delimiter after it."""
    if body.startswith(b"\r\n", at):
        content_type, content_id, length = _NO_FIELDS
        at += 2
    else:
        end = body.find(b"\r\n\r\n", at, at + HEAD_LIMIT)
        if end < 0:
            name = f"part {number}"
            raise MimeFault(name, f"the header fields of {name} do not end within {HEAD_LIMIT} bytes")
        content_type, content_id, length = _head(body[at:end], number)
        at = end + 4
    if length is None:
        end = _scan(body, at, delimiter, number)
    else:
        end = at + length
        if end > len(body):
            name = f"part {number}"
            raise MimeFault(name, f"{name} claims {length} bytes, and {len(body) - at} are left")
    part = Part(content_type, content_id, body[at:end])
    # The next delimiter follows after one CRLF, or directly, as Windows writes it.
    return part, end + 2 if body.startswith(b"\r\n", end) else end


_NO_FIELDS: Final = ("text/plain", "", None)


@lru_cache(maxsize=1024)
def _head(head: bytes, number: int) -> tuple[str, str, int | None]:
    """Return Content-Type, Content-Id and Content-Length of a part; cached, because senders repeat their
    headers."""
    name = f"part {number}"
    fields = fields_of(head, name)
    encoding = fields.get("content-transfer-encoding", "binary").lower()
    if encoding not in ("binary", "8bit", "7bit"):
        raise MimeFault(name, f"{name} is encoded as {encoding[:40]!r}; only raw bytes are understood")
    length = fields.get("content-length")
    if length is not None and not (length.isascii() and length.isdigit() and len(length) <= LENGTH_DIGITS):
        raise MimeFault(name, f"the Content-Length of {name} is no number")
    return (
        fields.get("content-type", "text/plain"),
        fields.get("content-id", ""),
        None if length is None else int(length),
    )


def _scan(body: bytes, at: int, delimiter: bytes, number: int) -> int:
    """Return the end of a part without Content-Length."""
    if body.startswith(delimiter, at):
        return at  # an empty part whose CRLF is the blank line before it
    end = body.find(b"\r\n" + delimiter, at)
    if end < 0:
        name = f"part {number}"
        raise MimeFault(name, f"{name} has neither a Content-Length nor a delimiter behind it")
    return end

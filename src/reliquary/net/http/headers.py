"""Searches and writes header fields.

Lists of (name, value) bytes in their received form, names in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from reliquary.base.faults import UsageError

Headers = list[tuple[bytes, bytes]]

TRANSFER_ENCODING: Final = b"transfer-encoding"
CODING_LENGTH: Final = len(TRANSFER_ENCODING)
"""The length of a name, which is compared first: this is cheap, and few other names have it."""
CHUNKED: Final = b"chunked"
"""The only transfer coding that is read (RFC 9112 7); a body in any other one is refused."""

SMALL: Final = 4096
ENDS_OF_HEADS: Final = tuple(b"content-length: %d\r\n\r\n" % size for size in range(SMALL))
"""The last line of a head for every small body, because formatting a number is slower than joining."""


def end_of_head(size: int) -> bytes:
    """Return the last line of a head, with the empty line that ends it."""
    return ENDS_OF_HEADS[size] if size < SMALL else b"content-length: %d\r\n\r\n" % size


def find(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """Return the first value of a header, or None; `name` is in lower case."""
    for key, value in headers:
        if key.lower() == name:
            return value
    return None


def lowered(headers: Headers) -> Headers:
    """Return the fields with their names in lower case."""
    return [(name.lower(), value) for name, value in headers]


def format_headers(headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Return header lines for sending; a value that would begin a second line is refused."""
    lines = b"".join([b"%b: %b\r\n" % field for field in headers])
    if lines.count(b"\r") + lines.count(b"\n") + lines.count(b"\0") != 2 * len(headers):
        raise UsageError(f"a header holds a line break or NUL: {lines!r}")
    return lines

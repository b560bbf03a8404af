"""Header fields as they came: a list of (name, value) bytes, names in any case."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.base.faults import UsageError

Headers = list[tuple[bytes, bytes]]


def find(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """The first value of a header, or None; `name` is in lower case."""
    for key, value in headers:
        if key.lower() == name:
            return value
    return None


def lowered(headers: Headers) -> Headers:
    """The same fields with their names in lower case."""
    return [(name.lower(), value) for name, value in headers]


def format_headers(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Header lines to send; one that would begin a second line is refused, not sent."""
    lines = b"".join([b"%b: %b\r\n" % field for field in headers])
    if lines.count(b"\r") + lines.count(b"\n") + lines.count(b"\0") != 2 * len(tuple(headers)):
        raise UsageError(f"a header holds a line break or NUL: {lines!r}")
    return lines

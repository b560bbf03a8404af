"""Limits the objects in a JSON body before it is decoded, because a byte of it can become 200 in memory.

    3 MB of [{},{},...]  -->  a million messages, 690 MB

Most bodies are small or hold one message, and nothing is counted there.  In others all braces and
commas are counted first, which is fast; only if there are too many, those inside of strings are
excluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.queueing.rules.checks import COUNT_LIMIT

SMALL_BODY: Final = 64 * 1024
"""The largest body that is not checked, because it cannot hold enough values."""
OBJECTS_LIMIT: Final = 2 * COUNT_LIMIT
"""The most objects: each message is one, and one more if it has fields of HTTPR."""
VALUES_LIMIT: Final = 500_000
"""The most fields and items of lists: all fields of the largest list of messages, and more."""

SLICE: Final = 64 * 1024
"""Bytes that are examined together."""

_OTHERS: Final = bytes(set(range(256)) - set(b'"{,'))
"""All bytes that are neither counted nor the beginning or the end of a string."""
_STRING: Final = re.compile(rb'"[^"]*"?')


def check_counts(body: bytes) -> None:
    """Refuse a body that holds more objects or values than any request needs."""
    if body.count(b"{") <= OBJECTS_LIMIT and body.count(b",") <= VALUES_LIMIT:
        return
    objects = values = 0
    for found in outside_strings(body):
        objects += found.count(b"{")
        values += found.count(b",")
        if objects > OBJECTS_LIMIT:
            raise UsageError(
                f"one request has at most {COUNT_LIMIT} messages, this one has {objects} objects or more"
            )
        if values > VALUES_LIMIT:
            raise UsageError(f"one request has at most {VALUES_LIMIT} values, this one has {values} or more")


def outside_strings(body: bytes, size: int = SLICE) -> Iterator[bytes]:
    """Yield the braces and commas of each slice that stand in no string.

    >>> list(outside_strings(b'[{"a": "{,"}, {}]'))
    [b'{,{']
    """
    opening, start = b"", 0
    while start < len(body):
        piece = body[start : start + size]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:  # an escape sequence is not divided
            piece = body[start : start + size + 1]
        start += len(piece)
        marks = opening + piece.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS)
        yield _STRING.sub(b"", marks)
        opening = b'"' if marks.count(b'"') % 2 else b""  # the next slice begins inside a string

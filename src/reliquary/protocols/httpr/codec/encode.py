"""Encodes a batch, 6.2: messages with their headers, then the terminator.

message-size:5              message-encoding:chunked
target-uri:...              target-uri:...

hello                       5
message-size:...            hello
                            0

                                                  the end of the chunks, and that of the message
                            payload-disposition:last
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.values import Disposition

TERMINATOR: Final = {each: f"payload-disposition:{each.value}\r\n".encode() for each in Disposition}
LAST_CHUNK: Final = b"0\r\n\r\n"
"""The last chunk, with an empty trailer."""
END_OF_MESSAGE: Final = b"\r\n"
"""The bytes after the data; the size does not count them (HR-120)."""

_LAST: Final = TERMINATOR[Disposition.LAST]


def message_head(header: str, size: int) -> bytes:
    """Return the header of a message whose data has this size."""
    return f"message-size:{size}\r\n{_whole(header)}\r\n".encode("latin-1")


def chunked_head(header: str) -> bytes:
    """Return the header of a message whose data comes in chunks."""
    return f"message-encoding:chunked\r\n{_whole(header)}\r\n".encode("latin-1")


def _whole(header: str) -> str:
    """Return lines without a blank one among them, which would end the header too early (HR-124)."""
    if header and (header[-2:] != "\r\n" or header[0] == "\r" or "\r\n\r\n" in header):
        raise UsageError(
            f"the header {header[:80]!r} has a blank line or no CRLF at its end: end each line with CRLF, and"
            " leave none blank"
        )
    return header


def chunk(data: bytes | memoryview) -> bytes:
    """Return one chunk; an empty one would end the message."""
    if not data:
        raise UsageError("an empty chunk would end the message: write chunks of at least one byte")
    return b"%x\r\n%b\r\n" % (len(data), bytes(data))


def batch_bytes(batch: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a whole batch of (header, body), terminator `last`."""
    parts: list[bytes] = []
    for header, body in batch:
        if header[-2:] != "\r\n" or header[0] == "\r" or "\r\n\r\n" in header:
            _whole(header)  # the body has no fields, or is empty
        parts += (f"message-size:{len(body)}\r\n{header}\r\n".encode("latin-1"), body, END_OF_MESSAGE)
    parts.append(_LAST)
    return b"".join(parts)

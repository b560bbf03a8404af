"""The mark as releases before store version 2 wrote it: one number and its checksum."""

from __future__ import annotations

from zlib import crc32


def old_mark(number: int) -> bytes:
    """The content of the file SYNCED for a sequence number."""
    return number.to_bytes(8) + crc32(number.to_bytes(8)).to_bytes(4)

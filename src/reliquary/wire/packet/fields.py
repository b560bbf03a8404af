"""Reads and writes the elements of headers: numbers, GUIDs, wide strings, padding; refuses wrong ones.

wide string   UTF-16, little-endian, ends with a zero unit
GUID          16 bytes, the first three groups little-endian
padding       zero to three bytes up to the next multiple of four
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Any, Final
from uuid import UUID

from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.hresult import HResult

NO_GUID: Final = UUID(int=0)
NO_GUID_BYTES: Final = bytes(16)
NAME_LIMIT: Final = 0xFFFF
"""The limit for a wide string without a length, in bytes: the largest count that 16 bits hold."""

KNOWN_GUIDS: Final = 1024
"""The number of GUIDs that are cached, because a new object takes longer than a look-up."""

_PADDING: Final = (b"", b"\0", b"\0\0", b"\0\0\0")


class PacketFault(PeerFault):
    """Says that bytes break their format; `offset` counts from the beginning of the packet."""

    def __init__(self, offset: int, why: str, *, spec: str) -> None:
        super().__init__(HResult.INVALID_PARAMETER, f"{why} (at offset {offset})", spec=spec)
        self.offset = offset


class Reader:
    """Reads a packet; it never reads past `end`, the size that the packet claims."""

    __slots__ = ("at", "data", "end", "spec", "start")

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end
        self.start = at
        """The offset at which the current header begins."""
        self.spec = ""

    def begin(self, spec: str) -> None:
        """Record that the next header begins here."""
        self.start = self.at
        self.spec = spec

    def fault(self, why: str, at: int | None = None) -> PacketFault:
        """Return a fault at this offset, or at the beginning of the current header."""
        return PacketFault(self.start if at is None else at, why, spec=self.spec)

    def unpack(self, layout: Struct, what: str) -> tuple[Any, ...]:
        """Read the numbers of this layout at the current offset."""
        at = self.at
        after = at + layout.size
        if after > self.end:
            raise self._ends_early(layout.size, what)
        self.at = after
        return layout.unpack_from(self.data, at)

    def take(self, size: int, what: str) -> bytes:
        """Read `size` bytes at the current offset."""
        at = self.at
        after = at + size
        if after > self.end:
            raise self._ends_early(size, what)
        self.at = after
        return self.data[at:after]

    def guid(self, what: str) -> UUID:
        """Read a GUID at the current offset."""
        return guid_of(self.take(16, what))

    def wide(self, size: int, what: str) -> str:
        """Read a wide string of `size` bytes, its zero included."""
        at = self.at
        raw = self.take(size, what)
        if size & 1:
            raise self.fault(f"{what} has {size} bytes, an odd number, and a character has two", at)
        try:
            text = raw.decode("utf-16-le")
        except UnicodeDecodeError as why:
            raise self.fault(f"{what} is not UTF-16", at + why.start) from None
        if not text.endswith("\0"):
            raise self.fault(f"{what} does not end with a zero", at)
        if text.find("\0") != len(text) - 1:
            raise self.fault(f"{what} has a zero before its end", at)
        return text[:-1]

    def wide_to_zero(self, end: int, what: str) -> str:
        """Return the next wide string, which ends with the first zero before `end`."""
        start = self.at
        end = min(end, start + NAME_LIMIT)
        zero = self.data.find(b"\0\0", start, end)
        while (
            zero - start
        ) & 1 and zero >= 0:  # the zero bytes are half of one character and half of the next
            zero = self.data.find(b"\0\0", zero + 1, end)
        if zero < 0:
            raise self.fault(f"{what} does not end with a zero", start)
        return self.wide(zero + 2 - start, what)

    def pad(self) -> None:
        """Skip to the next multiple of four."""
        self.take(-(self.at - self.start) & 3, "the padding of a header")

    def _ends_early(self, size: int, what: str) -> PacketFault:
        return self.fault(
            f"{what} takes {size} bytes, and {max(self.end - self.at, 0)} are left", min(self.at, self.end)
        )


@lru_cache(maxsize=KNOWN_GUIDS)
def guid_of(raw: bytes) -> UUID:
    """Return the GUID in 16 bytes; cached, because few managers send to one manager."""
    return NO_GUID if raw == NO_GUID_BYTES else UUID(bytes_le=raw)


@lru_cache(maxsize=KNOWN_GUIDS)
def guid_bytes(guid: UUID) -> bytes:
    """Return the 16 bytes of a GUID."""
    return guid.bytes_le


def padded(raw: bytes) -> bytes:
    """Return the bytes with zeros up to the next multiple of four."""
    return raw + _PADDING[-len(raw) & 3]


def wide(text: str, what: str) -> bytes:
    """Return a wide string with its zero."""
    if "\0" in text:
        raise UsageError(f"{what} has a zero character, which would end it in a packet")
    try:
        return (text + "\0").encode("utf-16-le")
    except UnicodeEncodeError as why:
        raise UsageError(f"{what} has half of a surrogate pair, which is no character") from why

"""Writes a stub; the methods are those of the reader, and what they write is little-endian.

Long byte strings are not copied: `parts` returns them as they came, between the bytes around them.
"""

from __future__ import annotations

from struct import Struct
from typing import Final
from uuid import UUID

from reliquary.wire.ndr.encoding import Encoding

_U16: Final = Struct("<H")
_U32: Final = Struct("<I")
_U64: Final = Struct("<Q")
_GAPS: Final = tuple(bytes(size) for size in range(8))
_SHORT: Final = 1024
"""Byte strings up to this length are copied: that costs less than one more part."""


class NdrWriter:
    """Collects the values of a stub."""

    __slots__ = ("_parts", "_recent", "at", "encoding")

    def __init__(self, encoding: Encoding) -> None:
        self._parts: list[bytes] = []
        self._recent = bytearray()
        """The bytes that were written after the last finished part."""
        self.encoding = encoding
        self.at = 0
        """The number of bytes that were written."""

    def align(self, to: int) -> None:
        """Write the gap before a value that is aligned to `to` bytes (at most 8)."""
        gap = -self.at % to
        if gap:
            self._recent += _GAPS[gap]
            self.at += gap

    def u8(self, value: int) -> None:
        """Write a number of 8 bits."""
        self._recent.append(value)
        self.at += 1

    def u16(self, value: int) -> None:
        """Write a number of 16 bits."""
        self._number(_U16.pack(value), 2)

    def u32(self, value: int) -> None:
        """Write a number of 32 bits."""
        self._number(_U32.pack(value), 4)

    def u64(self, value: int) -> None:
        """Write a number of 64 bits."""
        self._number(_U64.pack(value), 8)

    def enum(self, value: int) -> None:
        """Write a member of an enumeration without `v1_enum`."""
        if self.encoding.wide:
            self.u32(value)
        else:
            self.u16(value)

    def pointer(self, value: int) -> None:
        """Write a referent identifier; 0 is NULL."""
        if self.encoding.wide:
            self.u64(value)
        else:
            self.u32(value)

    def size(self, value: int) -> None:
        """Write a count or an offset of an array."""
        self.pointer(value)

    def guid(self, value: UUID) -> None:
        """Append a GUID, aligned to 4 bytes."""
        self._number(value.bytes_le, 4)

    def handle(self, value: UUID) -> None:
        """Write a context handle; the nil GUID is NULL."""
        self.u32(0)
        self._number(value.bytes_le, 4)

    def raw(self, data: bytes) -> None:
        """Write bytes, without an alignment."""
        if len(data) <= _SHORT:
            self._recent += data
        else:
            self._cut()
            self._parts.append(data)
        self.at += len(data)

    def parts(self) -> list[bytes]:
        """Return the stub in pieces."""
        self._cut()
        return self._parts

    def take(self) -> bytes:
        """Return the stub as one byte string."""
        return b"".join(self.parts())

    def _number(self, data: bytes, alignment: int) -> None:
        self.align(alignment)
        self._recent += data
        self.at += len(data)

    def _cut(self) -> None:
        if self._recent:
            self._parts.append(bytes(self._recent))
            self._recent.clear()

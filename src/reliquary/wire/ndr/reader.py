"""Reads a stub: numbers, pointers, counts, GUIDs and context handles, C706 14.2 and 14.3, [MS-RPCE] 2.2.5.

            NDR 2.0    NDR64
enum        u16        u32
pointer     u32        u64      a referent identifier, 0 for NULL
size        u32        u64      the maximum count, the offset and the actual count of an array
handle      u32 and a GUID in both: a context handle

Each number is aligned to its own size, counted from the beginning of the stub.  The content of gaps is
ignored ([MS-RPCE] 3.1.1.5.3.2.2.6).  What is missing or out of range raises `NdrFault` (QP-013).
"""

from __future__ import annotations

from struct import Struct
from typing import Final
from uuid import UUID

from reliquary.wire.ndr.encoding import Encoding

MOST_ELEMENTS: Final = 0x7FFF_FFFF
"""The largest number of elements of an array, [MS-RPCE] 3.1.1.5.3.2.2.1."""

_LITTLE: Final = (Struct("<H"), Struct("<I"), Struct("<Q"))
_BIG: Final = (Struct(">H"), Struct(">I"), Struct(">Q"))


class NdrFault(Exception):
    """Says that a stub breaks NDR or the description of its method; `at` is the offset in the stub."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(f"{why} (at offset {at})")
        self.at = at
        self.why = why


class NdrReader:
    """Reads a stub from its beginning to its end."""

    __slots__ = ("_data", "_end", "_u16", "_u32", "_u64", "at", "encoding")

    def __init__(self, data: bytes, encoding: Encoding) -> None:
        self._data = data
        self._end = len(data)
        self._u16, self._u32, self._u64 = _BIG if encoding.big_endian else _LITTLE
        self.encoding = encoding
        self.at = 0
        """The offset of the next value, before its alignment."""

    @property
    def left(self) -> int:
        """Return the number of bytes that follow; 0 after an alignment past the end."""
        return max(0, self._end - self.at)

    def align(self, to: int) -> None:
        """Skip the gap before a value that is aligned to `to` bytes."""
        self.at += -self.at % to

    def u8(self) -> int:
        """Return the next byte as a number."""
        at = self.at
        if at >= self._end:
            raise self._ends(1)
        self.at = at + 1
        return self._data[at]

    def u16(self) -> int:
        """Return the next number of 16 bits."""
        return self._number(self._u16, 2)

    def u32(self) -> int:
        """Return the next number of 32 bits."""
        return self._number(self._u32, 4)

    def u64(self) -> int:
        """Return the next number of 64 bits."""
        return self._number(self._u64, 8)

    def enum(self) -> int:
        """Return the next member of an enumeration without `v1_enum`."""
        return self._number(self._u32, 4) if self.encoding.wide else self._number(self._u16, 2)

    def pointer(self) -> int:
        """Return the next referent identifier; 0 is NULL."""
        return self._number(self._u64, 8) if self.encoding.wide else self._number(self._u32, 4)

    def size(self) -> int:
        """Return the next count or offset of an array."""
        count = self.pointer()
        if count > MOST_ELEMENTS:
            raise NdrFault(self.at, f"an array has {count} elements, more than {MOST_ELEMENTS}")
        return count

    def guid(self) -> UUID:
        """Read a GUID, aligned to 4 bytes."""
        self.align(4)
        raw = self.raw(16)
        return UUID(bytes=raw) if self.encoding.big_endian else UUID(bytes_le=raw)

    def handle(self) -> UUID:
        """Return the identifier of the next context handle; the nil GUID is NULL."""
        attributes = self._number(self._u32, 4)
        if attributes:
            raise NdrFault(self.at - 4, f"a context handle with the attributes {attributes:#x}")
        return self.guid()

    def raw(self, size: int) -> bytes:
        """Return the next bytes, without an alignment."""
        at = self.at
        after = at + size
        if after > self._end:
            raise self._ends(size)
        self.at = after
        return self._data[at:after]

    def _number(self, layout: Struct, size: int) -> int:
        at = self.at + -self.at % size
        after = at + size
        if after > self._end:
            raise self._ends(size)
        self.at = after
        number: int = layout.unpack_from(self._data, at)[0]
        return number

    def _ends(self, size: int) -> NdrFault:
        """Return the fault of a stub that ends too early, [MS-RPCE] 3.1.1.5.3.2.2.3."""
        return NdrFault(min(self.at, self._end), f"a value takes {size} bytes, and {self.left} are left")

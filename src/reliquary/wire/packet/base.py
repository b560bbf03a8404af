"""Encodes BaseHeader, [MS-MQMQ] 2.2.19.1, with which every packet begins.

0         1          2       4           8            12                 16
| version | reserved | flags | signature | PacketSize | TimeToReachQueue |
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import layouts
from reliquary.wire.packet.fields import Reader

SPEC: Final = layouts.BASE.spec
VERSION: Final = 0x10
SIGNATURE: Final = 0x524F494C
"""The four bytes `LIOR` as a number."""
SIZE_LIMIT: Final = 0x00400000
FOREVER: Final = 0xFFFFFFFF

PRIORITY: Final = 0x0007
INTERNAL: Final = 0x0008
SESSION: Final = 0x0010
DEBUG: Final = 0x0020
TRACING: Final = 0x0100

_LAYOUT: Final = layouts.BASE.struct
SIZE: Final = _LAYOUT.size


class BaseHeader(msgspec.Struct, frozen=True, gc=False):
    """Priority, tracing and time; the size and the flags of other headers are computed when it is written."""

    priority: int = 3
    tracing: bool = False
    time_to_reach_queue: int = FOREVER
    """Seconds after SentTime; in a remote read the moment itself ([MS-MQRR] 2.2.5.1)."""

    def encode(self, size: int, presence: int) -> bytes:
        """Return the header of a packet of `size` bytes; `presence` has the flags SESSION and DEBUG."""
        if size > SIZE_LIMIT:
            raise UsageError(f"a packet has at most {SIZE_LIMIT} bytes, this one would have {size}")
        if not 0 <= self.priority <= PRIORITY:
            raise UsageError(f"a priority is 0 to {PRIORITY}, not {self.priority}")
        if self.tracing and not presence & DEBUG:
            raise UsageError("tracing needs a debug header")
        flags = self.priority | presence | (TRACING if self.tracing else 0)
        return _LAYOUT.pack(VERSION, 0, flags, SIGNATURE, size, self.time_to_reach_queue)

    @classmethod
    def decode(cls, reader: Reader) -> tuple[BaseHeader, int, int]:
        """Return the header, its flags, and the size that the packet claims.  Reserved bits are ignored."""
        header, flags, size = cls.decode_any(reader)
        if flags & INTERNAL:
            raise reader.fault("the packet is an internal one, not a user's message", reader.start + 2)
        return header, flags, size

    @classmethod
    def decode_any(cls, reader: Reader) -> tuple[BaseHeader, int, int]:
        """Decode the header of a user's message or of an internal packet (QB-010, QB-029)."""
        reader.begin(SPEC)
        version, _, flags, signature, size, time = reader.unpack(_LAYOUT, "a base header")
        at = reader.start
        if version != VERSION:
            raise reader.fault(f"the version is {version:#04x}, not {VERSION:#04x}", at)
        if signature != SIGNATURE:
            raise reader.fault(f"the signature word is {signature:#010x}, not LIOR", at + 4)
        if flags & TRACING and not flags & DEBUG:
            raise reader.fault("the packet is traced and has no debug header", at + 2)
        if not SIZE <= size <= SIZE_LIMIT:
            raise reader.fault(f"a packet has {SIZE} to {SIZE_LIMIT} bytes, and this one says {size}", at + 8)
        return cls(flags & PRIORITY, bool(flags & TRACING), time), flags, size

"""Encodes DebugHeader, [MS-MQMQ] 2.2.20.8, which names the queue for reports about the message.

0       2          4
| flags | reserved | queue's GUID? |
"""

from __future__ import annotations

from struct import Struct
from typing import Final
from uuid import UUID

import msgspec

from reliquary.wire.packet.fields import Reader

SPEC: Final = "MS-MQMQ 2.2.20.8"
_NO_QUEUE: Final = 0
_PUBLIC: Final = 1

_LAYOUT: Final = Struct("<HH")


class DebugHeader(msgspec.Struct, frozen=True, gc=False):
    """A public queue for reports, or none."""

    queue: UUID | None = None

    def encode(self) -> bytes:
        """Return the header as bytes."""
        if self.queue is None:
            return _LAYOUT.pack(_NO_QUEUE, 0)
        return _LAYOUT.pack(_PUBLIC, 0) + self.queue.bytes_le

    @classmethod
    def decode(cls, reader: Reader) -> DebugHeader:
        """Return the header.  Reserved bits are ignored."""
        reader.begin(SPEC)
        flags, _ = reader.unpack(_LAYOUT, "a debug header")
        kind = flags & 3
        if kind > _PUBLIC:
            raise reader.fault(f"{kind} is no kind of queue for reports")
        return cls(reader.guid("the queue for reports") if kind == _PUBLIC else None)

"""Encodes the bodies of order and final acknowledgements, [MS-MQQB] 2.2.4.1 and 2.2.5.1: 36 bytes each.

0         4           8        12         16              32          36
| ordinal | timestamp | number | previous | reserved                  |   order acknowledgement
| ordinal | timestamp | number | previous | source manager | MessageID  |   final acknowledgement
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec

from reliquary.wire.packet import layouts
from reliquary.wire.packet.fields import NO_GUID, guid_of

_ORDER: Final = layouts.ORDER_BODY.struct
_FINAL: Final = layouts.FINAL_BODY.struct
_NOTHING: Final = bytes(20)
_LOW: Final = 0xFFFFFFFF
SIZE: Final = _ORDER.size
"""MessageSize of both kinds: 0x24."""


class OrderBody(msgspec.Struct, frozen=True, gc=False):
    """Says that all messages of a sequence up to a number have been accepted or refused."""

    sequence: int
    """TxSequenceID as one number: timestamp << 32 | ordinal."""
    number: int
    previous: int = 0
    """The previous number, written as `number` - 1 (QB-066)."""

    def encode(self) -> bytes:
        """Return the body; the reserved bytes are zeros (QB-067)."""
        return _ORDER.pack(self.sequence & _LOW, self.sequence >> 32, self.number, self.previous, _NOTHING)

    @classmethod
    def decode(cls, body: bytes) -> OrderBody:
        """Return the body of `SIZE` bytes; the reserved bytes are ignored (QB-068)."""
        ordinal, timestamp, number, previous, _ = _ORDER.unpack_from(body)
        return cls(timestamp << 32 | ordinal, number, previous)


class FinalBody(msgspec.Struct, frozen=True, gc=False):
    """The body of a final acknowledgement; the class of the packet says how the message left its queue."""

    sequence: int
    """TxSequenceID as one number: timestamp << 32 | ordinal."""
    number: int
    previous: int = 0
    source: UUID = NO_GUID
    """SourceGUID: the first manager that sent the message."""
    message_id: int = 0

    def encode(self) -> bytes:
        """Return the encoded body (QB-074, QB-075)."""
        return _FINAL.pack(
            self.sequence & _LOW,
            self.sequence >> 32,
            self.number,
            self.previous,
            self.source.bytes_le,
            self.message_id,
        )

    @classmethod
    def decode(cls, body: bytes) -> FinalBody:
        """Return the body that is at least `SIZE` bytes long."""
        ordinal, timestamp, number, previous, source, message_id = _FINAL.unpack_from(body)
        return cls(timestamp << 32 | ordinal, number, previous, guid_of(source), message_id)

"""Encodes TransactionHeader, [MS-MQMQ] 2.2.20.5: the position of a transactional message in its stream.

0       4         8           12       16         20
| flags | ordinal | timestamp | number | previous | ConnectorQMGuid? |
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import layouts
from reliquary.wire.packet.fields import Reader

SPEC: Final = layouts.TRANSACTION.spec
IDENTIFIER_LIMIT: Final = 0xFFFFF

CONNECTOR: Final = 1
_FINAL_ACK: Final = 2
_FIRST: Final = 4
_LAST: Final = 8

_LAYOUT: Final = layouts.TRANSACTION.struct

Fields = tuple[int, int, int, int, int]
"""The fixed part: flags with the number of the transaction, ordinal, timestamp, number, previous number."""


class TransactionHeader(msgspec.Struct, frozen=True, gc=False):
    """The stream of a message, its number in the stream, and the transaction in which it was sent."""

    identifier: int = 0
    """ID, 20 bits; all messages of one transaction share it."""
    ordinal: int = 0
    """The low half of TxSequenceID."""
    timestamp: int = 0
    """The high half of TxSequenceID."""
    number: int = 0
    previous: int = 0
    final_ack: bool = False
    first: bool = False
    last: bool = False
    connector: UUID | None = None

    def encode(self) -> bytes:
        """Return the header as bytes."""
        fixed = _LAYOUT.pack(*self.fields)
        return fixed if self.connector is None else fixed + self.connector.bytes_le

    @property
    def fields(self) -> Fields:
        """Return the values of the fixed part."""
        if not 0 <= self.identifier <= IDENTIFIER_LIMIT:
            raise UsageError(f"a transaction's number is 0 to {IDENTIFIER_LIMIT}, not {self.identifier}")
        flags = (
            self.identifier << 4
            | (CONNECTOR if self.connector is not None else 0)
            | (_FINAL_ACK if self.final_ack else 0)
            | (_FIRST if self.first else 0)
            | (_LAST if self.last else 0)
        )
        return flags, self.ordinal, self.timestamp, self.number, self.previous

    @classmethod
    def decode(cls, reader: Reader) -> TransactionHeader:
        """Return the header.  Reserved bits are ignored."""
        reader.begin(SPEC)
        flags, ordinal, timestamp, number, previous = reader.unpack(_LAYOUT, "a transaction header")
        connector = reader.guid("the connector's manager") if flags & CONNECTOR else None
        return cls.of(flags, ordinal, timestamp, number, previous, connector)

    @classmethod
    def of(
        cls,
        flags: int,
        ordinal: int,
        timestamp: int,
        number: int,
        previous: int,
        connector: UUID | None = None,
    ) -> TransactionHeader:
        """Return the header with these fields.  Reserved bits are ignored."""
        return cls(
            flags >> 4 & IDENTIFIER_LIMIT,
            ordinal,
            timestamp,
            number,
            previous,
            bool(flags & _FINAL_ACK),
            bool(flags & _FIRST),
            bool(flags & _LAST),
            connector,
        )

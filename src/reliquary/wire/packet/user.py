"""Encodes UserHeader, [MS-MQMQ] 2.2.19.2: source, destination and delivery of a message.

0        16        32                 36         40          44      48
| source | address | TimeToBeReceived | SentTime | MessageID | flags |
| destination queue | administration queue | response queue | ConnectorType? |
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import layouts
from reliquary.wire.packet.addresses import NOWHERE, Address, AddressKind
from reliquary.wire.packet.fields import NO_GUID, Reader, guid_bytes, guid_of

SPEC: Final = layouts.USER.spec
FOREVER: Final = 0xFFFFFFFF
HOPS_LIMIT: Final = 0x1F

SECURITY: Final = 0x00080000
TRANSACTION: Final = 0x00100000
PROPERTIES: Final = 0x00200000
CONNECTOR: Final = 0x00400000
MULTI_QUEUE: Final = 0x00800000
HTTP: Final = 0x02000000
SOAP: Final = 0x10000000

_DEAD_LETTER: Final = 0x00000100
_JOURNAL: Final = 0x00000200
_EXPRESS: Final = 0
_RECOVERABLE: Final = 1

_KINDS: Final = tuple(AddressKind)
_DESTINATIONS: Final = frozenset(
    {AddressKind.NONE, AddressKind.PRIVATE_ON_DESTINATION, AddressKind.PUBLIC, AddressKind.DIRECT}
)
_ADMINS: Final = _DESTINATIONS | {AddressKind.PRIVATE_ON_SOURCE, AddressKind.PRIVATE}

_LAYOUT: Final = layouts.USER.struct


class UserHeader(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Addresses, times and journaling; the flags of other headers are computed when it is written."""

    source: UUID = NO_GUID
    """SourceQueueManager; together with `message_id` it is the identifier of the message."""
    address: UUID = NO_GUID
    """QueueManagerAddress; zero for a direct destination."""
    time_to_be_received: int = FOREVER
    sent_time: int = 0
    message_id: int = 0
    hops: int = 0
    recoverable: bool = False
    dead_letter: bool = False
    """JN: the sender asks for negative source journaling."""
    journal: bool = False
    """JP: the sender asks for positive source journaling."""
    destination: Address = NOWHERE
    admin: Address = NOWHERE
    response: Address = NOWHERE
    connector_type: UUID | None = None

    def encode(self, presence: int) -> bytes:
        """Return the header; `presence` has the flags of the headers that follow."""
        if self.destination.kind not in _DESTINATIONS or self.admin.kind not in _ADMINS:
            raise UsageError(
                f"a destination cannot be {self.destination.kind.name},"
                f" or an administration queue {self.admin.kind.name}"
            )
        if presence & TRANSACTION and not self.recoverable:
            raise UsageError("a transactional message must be recoverable")
        if not 0 <= self.hops <= HOPS_LIMIT:
            raise UsageError(f"a message makes at most {HOPS_LIMIT} hops, not {self.hops}")
        flags = (
            presence
            | self.hops
            | self.recoverable << 5
            | (_DEAD_LETTER if self.dead_letter else 0)
            | (_JOURNAL if self.journal else 0)
            | self.destination.kind << 10
            | self.admin.kind << 13
            | self.response.kind << 16
            | (CONNECTOR if self.connector_type is not None else 0)
        )
        fixed = _LAYOUT.pack(
            guid_bytes(self.source),
            guid_bytes(self.address),
            self.time_to_be_received,
            self.sent_time,
            self.message_id,
            flags,
        )
        connector = b"" if self.connector_type is None else self.connector_type.bytes_le
        return b"".join(
            (fixed, self.destination.encode(), self.admin.encode(), self.response.encode(), connector)
        )

    @classmethod
    def decode(cls, reader: Reader) -> tuple[UserHeader, int]:
        """Return the header and its flags.  Reserved bits are ignored."""
        reader.begin(SPEC)
        source, address, time_to_be_received, sent_time, message_id, flags = reader.unpack(
            _LAYOUT, "a user header"
        )
        delivery = flags >> 5 & 3
        destination = _KINDS[flags >> 10 & 7]
        admin = _KINDS[flags >> 13 & 7]
        response = _KINDS[flags >> 16 & 7]
        _check_flags(reader, flags, delivery, destination, admin)
        return (
            cls(
                source=guid_of(source),
                address=guid_of(address),
                time_to_be_received=time_to_be_received,
                sent_time=sent_time,
                message_id=message_id,
                hops=flags & HOPS_LIMIT,
                recoverable=delivery == _RECOVERABLE,
                dead_letter=bool(flags & _DEAD_LETTER),
                journal=bool(flags & _JOURNAL),
                destination=Address.decode(reader, destination, "the destination queue"),
                admin=Address.decode(reader, admin, "the administration queue") if admin else NOWHERE,
                response=Address.decode(reader, response, "the response queue") if response else NOWHERE,
                connector_type=reader.guid("the connector type") if flags & CONNECTOR else None,
            ),
            flags,
        )


def _check_flags(
    reader: Reader, flags: int, delivery: int, destination: AddressKind, admin: AddressKind
) -> None:
    at = reader.start + 44
    if delivery > _RECOVERABLE:
        raise reader.fault(f"{delivery} is no delivery mode", at)
    if destination not in _DESTINATIONS:
        raise reader.fault(f"a destination queue cannot be {destination.name}", at)  # QB-015
    if admin not in _ADMINS:
        raise reader.fault(f"an administration queue cannot be {admin.name}", at)  # QB-015
    if not flags & PROPERTIES:
        raise reader.fault("the packet has no message properties header", at)
    if flags & TRANSACTION and delivery == _EXPRESS:
        raise reader.fault("the message is transactional and express", at)

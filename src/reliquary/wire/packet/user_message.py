"""Encodes UserMessage, [MS-MQMQ] 2.2.20 and [MS-MQRR] 2.2.5.1: the whole packet."""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import base, session, user
from reliquary.wire.packet.base import BaseHeader
from reliquary.wire.packet.debug import DebugHeader
from reliquary.wire.packet.fields import PacketFault, Reader
from reliquary.wire.packet.multi import MultiQueueHeader
from reliquary.wire.packet.properties import PropertiesHeader
from reliquary.wire.packet.security import SecurityHeader
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.soap import CompoundHeader, EnvelopeHeader, SoapHeader
from reliquary.wire.packet.transaction import TransactionHeader
from reliquary.wire.packet.user import UserHeader

SPEC: Final = "MS-MQMQ 2.2.20"


class UserMessage(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One message; the flags of the base header are computed from the headers that are present."""

    base: BaseHeader = BaseHeader()
    user: UserHeader = UserHeader()
    transaction: TransactionHeader | None = None
    security: SecurityHeader | None = None
    properties: PropertiesHeader = PropertiesHeader()
    debug: DebugHeader | None = None
    envelope: EnvelopeHeader | None = None
    """Set together with `compound` for a message that arrived over HTTP; only a remote read has them."""
    compound: CompoundHeader | None = None
    soap: SoapHeader | None = None
    multi: MultiQueueHeader | None = None
    session: SessionHeader | None = None

    def encode(self) -> bytes:
        """Return the bytes of the packet; UsageError names a value that does not fit."""
        try:
            return self._encode()
        except struct.error as why:
            raise UsageError(f"a number does not fit into its field of the packet: {why}") from why

    def _encode(self) -> bytes:
        if (self.envelope is None) is not (self.compound is None):
            raise UsageError("an envelope header and a compound message header must come together")
        presence = (
            user.PROPERTIES
            | (user.TRANSACTION if self.transaction is not None else 0)
            | (user.SECURITY if self.security is not None else 0)
            | (user.HTTP if self.envelope is not None else 0)
            | (user.SOAP if self.soap is not None else 0)
            | (user.MULTI_QUEUE if self.multi is not None else 0)
        )
        following = (
            self.transaction,
            self.security,
            self.properties,
            self.debug,
            self.envelope,
            self.compound,
            self.soap,
            self.multi,
        )
        headers = [self.user.encode(presence)]
        headers += [header.encode() for header in following if header is not None]
        size = base.SIZE + sum(map(len, headers))  # DM-282
        flags = (base.DEBUG if self.debug is not None else 0) | (
            base.SESSION if self.session is not None else 0
        )
        headers.insert(0, self.base.encode(size, flags))
        if self.session is not None:
            headers.append(self.session.encode())
        return b"".join(headers)


def decode_user_message(data: bytes) -> UserMessage:
    """Return the message of a packet without further bytes; PacketFault has the offset of the first wrong
    byte."""
    message, used = decode_leading(data)
    if used != len(data):
        raise PacketFault(used, f"{len(data) - used} bytes follow the packet's end", spec=SPEC)
    return message


def decode_leading(data: bytes) -> tuple[UserMessage, int]:
    """Return the packet at the beginning of these bytes, and the number of its bytes."""
    reader = Reader(data, 0, len(data))
    base_header, base_flags, size = BaseHeader.decode(reader)
    if size > len(data):
        raise reader.fault(f"the packet says that it has {size} bytes, and {len(data)} came", 8)
    reader.end = size
    user_header, flags = UserHeader.decode(reader)
    http = flags & user.HTTP
    transaction = TransactionHeader.decode(reader) if flags & user.TRANSACTION else None
    security = SecurityHeader.decode(reader) if flags & user.SECURITY else None
    properties = PropertiesHeader.decode(reader)
    debug = DebugHeader.decode(reader) if base_flags & base.DEBUG else None
    envelope = EnvelopeHeader.decode(reader) if http else None
    compound = CompoundHeader.decode(reader) if http else None
    soap = SoapHeader.decode(reader) if flags & user.SOAP else None
    multi = MultiQueueHeader.decode(reader) if flags & user.MULTI_QUEUE else None
    if reader.at != size:
        raise PacketFault(reader.at, f"{size - reader.at} bytes follow the last header", spec=SPEC)
    used = size
    session_header = None
    if base_flags & base.SESSION:
        used += session.SIZE
        reader.end = min(used, len(data))
        session_header = SessionHeader.decode(reader)
    message = UserMessage(
        base=base_header,
        user=user_header,
        transaction=transaction,
        security=security,
        properties=properties,
        debug=debug,
        envelope=envelope,
        compound=compound,
        soap=soap,
        multi=multi,
        session=session_header,
    )
    return message, used

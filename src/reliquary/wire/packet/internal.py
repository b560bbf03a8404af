"""Encodes internal packets, [MS-MQQB] 2.2.1 to 2.2.3 and 2.2.6, which open and acknowledge a session.

0            16               20
| BaseHeader | InternalHeader | EstablishConnection, 552 bytes     |
| BaseHeader | InternalHeader | ConnectionParameters, 12 bytes     |
| BaseHeader | InternalHeader | SessionHeader, 16 bytes: SessionAck |
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import base, layouts, session
from reliquary.wire.packet.base import FOREVER, BaseHeader
from reliquary.wire.packet.fields import NO_GUID, Reader, guid_of
from reliquary.wire.packet.session import SessionHeader

SPEC: Final = layouts.INTERNAL.spec

RELEASE: Final = 0x0010
"""RE of OperatingSystem: the value that every initiator sends."""
NOT_PINGED: Final = 0x0100
"""SE of OperatingSystem: no ping was sent before this request."""
SERVER_CLASS: Final = 0x0200
"""OS of OperatingSystem: the initiator runs on a server."""
QUALITY_OF_SERVICE: Final = 0x0400
"""QS of OperatingSystem: the initiator asks for a quality of service."""

LEAST_RECOVERABLE_ACK: Final = 500
LEAST_ACK: Final = 20_000
MOST_ACK: Final = 120_000
"""The longest value of both time-outs, in milliseconds."""

_HEADER: Final = layouts.INTERNAL.struct
_ESTABLISH: Final = layouts.ESTABLISH_CONNECTION.struct
_PARAMETERS: Final = layouts.CONNECTION_PARAMETERS.struct
_PADDING: Final = b"\x5a" * 512
_TYPE: Final = 0x000F
_REFUSED: Final = 0x0010
_BODY: Final = base.SIZE + _HEADER.size
"""The offset of the part after both headers."""

ESTABLISH_SIZE: Final = _BODY + _ESTABLISH.size
PARAMETERS_SIZE: Final = _BODY + _PARAMETERS.size
ACK_SIZE: Final = _BODY + session.SIZE
LEAST_SIZE: Final = _BODY
"""PacketSize of a SessionAck whose SessionHeader is not counted (G-01)."""
SIZES: Final = frozenset({ESTABLISH_SIZE, PARAMETERS_SIZE, ACK_SIZE, LEAST_SIZE})
"""The values that PacketSize of an internal packet can have."""


class PacketType(IntEnum):
    """PT of the InternalHeader; there are no other values (QB-032)."""

    SESSION_ACK = 1
    ESTABLISH_CONNECTION = 2
    CONNECTION_PARAMETERS = 3


class EstablishConnection(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The first packet of a session, and the answer to it (2.2.3)."""

    client: UUID = NO_GUID
    """ClientGuid: the manager that opened the connection; the answer repeats it."""
    server: UUID = NO_GUID
    """ServerGuid: the manager that is called, NO_GUID for a direct name; in the answer, the answering
    manager."""
    timestamp: int = 0
    """Milliseconds since the caller started, modulo 2**32; the answer repeats it."""
    operating_system: int = RELEASE | NOT_PINGED
    """The word with the flags above; the answer repeats all of it (G-08)."""
    refused: bool = False
    """CS: the session is refused."""

    def encode(self) -> bytes:
        """Return the packet (QB-043); its padding is 512 times 0x5A in both directions (QB-057, QB-058)."""
        return _whole(
            PacketType.ESTABLISH_CONNECTION,
            _packed(
                _ESTABLISH,
                self.client.bytes_le,
                self.server.bytes_le,
                self.timestamp,
                self.operating_system,
                0,  # QB-056
                _PADDING,
            ),
            refused=self.refused,
        )


class ConnectionParameters(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The time-outs and the window of a session, and the answer to them (2.2.2)."""

    recoverable_ack_timeout: int = LEAST_RECOVERABLE_ACK
    """Milliseconds until recoverable messages are acknowledged; the answer repeats it."""
    ack_timeout: int = LEAST_ACK
    """Milliseconds that a sender waits for an acknowledgement; the answer repeats it."""
    window: int = 64
    """The number of packets that the writer of this packet takes without an acknowledgement; 0 is read as 1
    (G-09)."""
    refused: bool = False
    """CS: the parameters are refused."""

    def encode(self) -> bytes:
        """Return the packet (QB-038); UsageError when a time is not in its range (QB-039, QB-040)."""
        why = _range_error(self.recoverable_ack_timeout, self.ack_timeout)
        if why:
            raise UsageError(why[1])
        return _whole(
            PacketType.CONNECTION_PARAMETERS,
            _packed(_PARAMETERS, self.recoverable_ack_timeout, self.ack_timeout, 0, self.window),  # QB-041
            refused=self.refused,
        )


class SessionAck(msgspec.Struct, frozen=True, gc=False):
    """An acknowledgement that is sent without a message (2.2.6)."""

    session: SessionHeader

    def encode(self) -> bytes:
        """Return the packet; PacketSize counts the SessionHeader, as the sample does (QB-076, G-01)."""
        return _whole(PacketType.SESSION_ACK, self.session.encode(), presence=base.SESSION)


InternalPacket = EstablishConnection | ConnectionParameters | SessionAck


def decode_internal(data: bytes) -> InternalPacket:
    """Decode one internal packet; PacketFault has the offset of the first wrong byte."""
    reader = Reader(data, 0, len(data))
    _, flags, size = BaseHeader.decode_any(reader)
    if not flags & base.INTERNAL:
        raise reader.fault("the packet is a user's message, not an internal one", 2)
    reader.begin(SPEC)
    _, word = reader.unpack(_HEADER, "an internal header")  # QB-031, QB-037: the other bits are ignored
    kind = word & _TYPE
    if kind not in _DECODERS:
        raise reader.fault(f"{kind} is no type of an internal packet", base.SIZE + 2)
    has_session = bool(flags & base.SESSION)
    if has_session is not (kind == PacketType.SESSION_ACK):
        raise reader.fault("only a session acknowledgement may have a session header", 2)
    if size != len(data) and not (has_session and size == _BODY and len(data) == ACK_SIZE):
        raise reader.fault(f"the packet says that it has {size} bytes, and {len(data)} came", 8)
    packet = _DECODERS[PacketType(kind)](reader, bool(word & _REFUSED))
    if reader.at != len(data):
        raise reader.fault(f"{len(data) - reader.at} bytes follow the packet's end", reader.at)
    return packet


def _decode_establish(reader: Reader, refused: bool) -> EstablishConnection:
    reader.begin(layouts.ESTABLISH_CONNECTION.spec)
    client, server, timestamp, system, _, _ = reader.unpack(_ESTABLISH, "a connection request")
    return EstablishConnection(
        client=guid_of(client),
        server=guid_of(server),
        timestamp=timestamp,
        operating_system=system,  # QB-055: any bits are accepted
        refused=refused,
    )


def _decode_parameters(reader: Reader, refused: bool) -> ConnectionParameters:
    reader.begin(layouts.CONNECTION_PARAMETERS.spec)
    recoverable, ack, _, window = reader.unpack(_PARAMETERS, "connection parameters")
    why = _range_error(recoverable, ack)
    if why:
        raise reader.fault(why[1], reader.start + why[0])
    return ConnectionParameters(
        recoverable_ack_timeout=recoverable, ack_timeout=ack, window=window, refused=refused
    )


def _decode_ack(reader: Reader, refused: bool) -> SessionAck:
    if refused:  # QB-033
        raise reader.fault("a session acknowledgement cannot refuse a connection", base.SIZE + 2)
    return SessionAck(SessionHeader.decode(reader))


_DECODERS: Final[Mapping[PacketType, Callable[[Reader, bool], InternalPacket]]] = {
    PacketType.SESSION_ACK: _decode_ack,  # QB-025
    PacketType.ESTABLISH_CONNECTION: _decode_establish,  # QB-023
    PacketType.CONNECTION_PARAMETERS: _decode_parameters,  # QB-024
}


def _range_error(recoverable: int, ack: int) -> tuple[int, str] | None:
    """Return the offset and the sentence of a time that is out of its range."""
    if not LEAST_RECOVERABLE_ACK <= recoverable <= MOST_ACK:  # QB-039
        text = f"RecoverableAckTimeout is {LEAST_RECOVERABLE_ACK} to {MOST_ACK} ms, not {recoverable}"
        return 0, text
    if not LEAST_ACK <= ack <= MOST_ACK:  # QB-040
        return 4, f"AckTimeout is {LEAST_ACK} to {MOST_ACK} ms, not {ack}"
    return None


def _whole(kind: PacketType, body: bytes, *, presence: int = 0, refused: bool = False) -> bytes:
    """Put both headers before the body; packets of this kind never expire (QB-013).

    Bits without a meaning are 0 (QB-036).
    """
    header = BaseHeader(time_to_reach_queue=FOREVER).encode(_BODY + len(body), base.INTERNAL | presence)
    return header + _HEADER.pack(0, kind | (_REFUSED if refused else 0)) + body


def _packed(layout: struct.Struct, *values: object) -> bytes:
    try:
        return layout.pack(*values)
    except struct.error as why:
        raise UsageError(f"a number does not fit into its field of the packet: {why}") from why

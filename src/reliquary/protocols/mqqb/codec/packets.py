"""Decodes any packet of a session, [MS-MQQB] 3.1.5.1, and refuses one that breaks section 2."""

from __future__ import annotations

from struct import Struct
from typing import Final

from reliquary.wire.packet import base, layouts, user
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.internal import (
    ConnectionParameters,
    EstablishConnection,
    SessionAck,
    decode_internal,
)
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.user_message import UserMessage, decode_user_message

Packet = EstablishConnection | ConnectionParameters | SessionAck | UserMessage
"""The kinds of packet that a session has (QB-007); order and final acknowledgements are user messages."""

MOST_HOPS: Final = 0x1D
"""The highest value of RC of the UserHeader (G-61)."""

_SHORT: Final = Struct("<H")
_LONG: Final = Struct("<I")
_AT_BASE_FLAGS: Final = layouts.BASE.offset("Flags")
_AT_USER_FLAGS: Final = base.SIZE + layouts.USER.offset("Flags")


def decode_packet(data: bytes) -> Packet:
    """Return the packet that a framer cut out; PacketFault when it breaks section 2 (QB-022, QB-030)."""
    if len(data) > _AT_USER_FLAGS + _LONG.size:
        (base_flags,) = _SHORT.unpack_from(data, _AT_BASE_FLAGS)
        if not base_flags & base.INTERNAL:
            return _decode_message(data)
    return decode_internal(data)


def _decode_message(data: bytes) -> UserMessage:
    (flags,) = _LONG.unpack_from(data, _AT_USER_FLAGS)
    if flags & user.HTTP:  # QB-016, G-66: headers of SRMP are never parsed here
        raise PacketFault(_AT_USER_FLAGS, "headers of SRMP do not travel over MQQB", spec=user.SPEC)
    message = decode_user_message(data)
    if message.user.hops > MOST_HOPS:
        why = f"a message makes at most {MOST_HOPS} hops, not {message.user.hops}"
        raise PacketFault(_AT_USER_FLAGS, why, spec=user.SPEC)
    return message


def with_session(packet: bytes, header: SessionHeader) -> bytes:
    """Return an encoded user message followed by a SessionHeader; PacketSize stays (QB-011, QB-218)."""
    (flags,) = _SHORT.unpack_from(packet, _AT_BASE_FLAGS)
    changed = _SHORT.pack(flags | base.SESSION)
    after = _AT_BASE_FLAGS + _SHORT.size
    return b"".join((packet[:_AT_BASE_FLAGS], changed, packet[after:], header.encode()))

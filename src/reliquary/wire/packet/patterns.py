"""Reads and writes packets that differ only in a few fields from another packet, without its other fields.

    | base: size | user: SentTime, MessageID | transaction: all fields | SID | properties: sizes | body |
                  ^ these fields and the body differ; all other bytes are equal

Messages of one sender to one queue mostly differ in nothing else.  Windows adds the SID of the user, in a
SecurityHeader without a signature.  A packet with a header that is not in the drawing, or with a
SessionHeader, has no pattern.
"""

from __future__ import annotations

import struct
from copy import copy
from struct import Struct
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import base, layouts
from reliquary.wire.packet.transaction import CONNECTOR, TransactionHeader
from reliquary.wire.packet.user_message import UserMessage

_LONG: Final = Struct("<I")
_PAIR: Final = Struct("<II")
_PLACE: Final = layouts.TRANSACTION.struct
_NUMBERS: Final = layouts.TRANSACTION.offset("TxSequenceNumber")
_AT_SIZE: Final = layouts.BASE.offset("PacketSize")
_AFTER_SIZE: Final = _AT_SIZE + _LONG.size
_AT_SENT: Final = base.SIZE + layouts.USER.offset("SentTime")
_AFTER_SENT: Final = _AT_SENT + _PAIR.size
_BODY_SIZES: Final = layouts.PROPERTIES.offset("MessageSize")
_AFTER_BODY_SIZES: Final = _BODY_SIZES + _PAIR.size
LONGEST_HEAD: Final = 4096
"""The bytes of headers up to which a packet has a pattern, because patterns are kept as long as sessions."""
_PADDING: Final = (b"", b"\0", b"\0\0", b"\0\0\0")


class Varying(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The fields that differ between packets of one pattern."""

    sent_time: int
    message_id: int
    body: bytes
    transaction: TransactionHeader | None = None


class Pattern:
    """The constant part of packets that differ only in `Varying`."""

    __slots__ = ("_at_place", "_at_properties", "_at_sizes", "_head", "_parts")

    def __init__(self, packet: UserMessage, data: bytes) -> None:
        """Take all bytes of this packet, `data`, that do not differ between packets."""
        assert has_pattern(packet), "a packet with rare headers has no pattern"
        after_user = base.SIZE + len(packet.user.encode(0))
        after_place = after_user if packet.transaction is None else after_user + _PLACE.size
        at_properties = after_place + (0 if packet.security is None else len(packet.security.encode()))
        end = at_properties + layouts.PROPERTIES.struct.size
        end += len(packet.properties.label_bytes) + len(packet.properties.extension)
        self._head = data[:end]
        self._at_place = 0 if packet.transaction is None else after_user
        self._at_properties = at_properties
        self._at_sizes = at_properties + _BODY_SIZES
        spans = (
            (0, _AT_SIZE),
            (_AFTER_SIZE, _AT_SENT),
            (_AFTER_SENT, after_user),
            (after_place, self._at_sizes),
            (at_properties + _AFTER_BODY_SIZES, end),
        )
        self._parts = tuple([(slice(*span), self._head[slice(*span)]) for span in spans])

    def at(self, place: TransactionHeader) -> Pattern:
        """Return the pattern of packets at this position in a stream; only the two numbers differ in it."""
        assert self._at_place, "a packet outside streams has no room for a place in one"
        head, placed = bytearray(self._head), copy(self)
        try:
            _PLACE.pack_into(head, self._at_place, *place.fields)
        except struct.error as why:
            raise UsageError(f"a number does not fit into its field of the packet: {why}") from why
        placed._head = bytes(head)
        return placed

    def write(self, varying: Varying) -> bytes:
        """Return the packet with these fields; raise UsageError if a field does not fit."""
        sent_time, message_id, body = varying.sent_time, varying.message_id, varying.body
        place = varying.transaction
        if place is not None:
            return self.at(place).write_next(sent_time, message_id, body, place.number, place.previous)
        assert not self._at_place, "a packet of a stream has a place in it"
        return self._write(sent_time, message_id, body)

    def write_next(self, sent_time: int, message_id: int, body: bytes, number: int, previous: int) -> bytes:
        """Return the packet of a message with these numbers, in the stream of `at`; otherwise like
        `write`."""
        return self._write(sent_time, message_id, body, (number, previous))

    def _write(
        self, sent_time: int, message_id: int, body: bytes, numbers: tuple[int, int] | None = None
    ) -> bytes:
        head = bytearray(self._head)
        size = len(head) + len(body)
        padding = _PADDING[self._at_properties - size & 3]
        size += len(padding)
        if size > base.SIZE_LIMIT:
            raise UsageError(f"a packet has at most {base.SIZE_LIMIT} bytes, this one would have {size}")
        try:
            _LONG.pack_into(head, _AT_SIZE, size)
            _PAIR.pack_into(head, _AT_SENT, sent_time, message_id)
            _PAIR.pack_into(head, self._at_sizes, len(body), len(body))
            if numbers is not None:
                _PAIR.pack_into(head, self._at_place + _NUMBERS, *numbers)
        except struct.error as why:
            raise UsageError(f"a number does not fit into its field of the packet: {why}") from why
        return b"".join((head, body, padding))

    def read(self, data: bytes) -> Varying | None:
        """Return the varying fields of a packet; None if the packet differs in other bytes too."""
        for span, expected in self._parts:
            if data[span] != expected:
                return None
        end = len(self._head)
        (size,) = _LONG.unpack_from(data, _AT_SIZE)
        length, allocated = _PAIR.unpack_from(data, self._at_sizes)
        unpadded = end + length
        if (
            length != allocated
            or size != len(data)
            or size != unpadded + (self._at_properties - unpadded & 3)
        ):
            return None
        transaction = None
        if self._at_place:
            fields = _PLACE.unpack_from(data, self._at_place)
            if fields[0] & CONNECTOR:
                return None
            transaction = TransactionHeader.of(*fields)
        sent_time, message_id = _PAIR.unpack_from(data, _AT_SENT)
        return Varying(sent_time, message_id, data[end:unpadded], transaction)


def pattern_of(packet: UserMessage, data: bytes) -> Pattern | None:
    """Return the pattern of a packet and its bytes; None if its headers are unusual or long."""
    if len(data) - len(packet.properties.body) > LONGEST_HEAD or not has_pattern(packet):
        return None
    return Pattern(packet, data)


def has_pattern(packet: UserMessage) -> bool:
    """Return whether a packet has only the usual headers, and a body without unused room."""
    return (
        (packet.security is None or packet.security.is_sid_only)
        and packet.debug is None
        and packet.envelope is None
        and packet.soap is None
        and packet.multi is None
        and packet.session is None
        and not packet.properties.slack
        and (packet.transaction is None or packet.transaction.connector is None)
    )

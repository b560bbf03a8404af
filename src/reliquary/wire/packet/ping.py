"""Encodes the ping packet, [MS-MQQB] 2.2.7: a datagram that asks whether a session would be accepted.

0       2           4        8        24
| flags | signature | cookie | QMGuid |
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import msgspec

from reliquary.wire.packet import layouts
from reliquary.wire.packet.fields import guid_of

SIGNATURE: Final = 0x5548
"""The bytes `HU`, which every ping has (QB-084)."""

_CLIENT: Final = 0x0001
_REFUSED: Final = 0x0002
_LAYOUT: Final = layouts.PING.struct
SIZE: Final = _LAYOUT.size


class Ping(msgspec.Struct, frozen=True, gc=False):
    """A request or its response; both have one layout."""

    cookie: int
    """A number that the request chooses and the response repeats (QB-086)."""
    manager: UUID
    """QMGuid: the manager that wrote this datagram."""
    is_client: bool = False
    """RC: the requester does not run on a server; the response repeats it (QB-077, QB-078, QB-079)."""
    refused: bool = False
    """RF: a session would be refused now; clear in requests (QB-080, QB-081)."""

    def encode(self) -> bytes:
        """Return the datagram; unused bits are 0."""
        flags = (_CLIENT if self.is_client else 0) | (_REFUSED if self.refused else 0)
        return _LAYOUT.pack(flags, SIGNATURE, self.cookie & 0xFFFFFFFF, self.manager.bytes_le)

    def answer(self, manager: UUID, *, refused: bool) -> Ping:
        """Return the response of a manager to this request (QB-311)."""
        return Ping(self.cookie, manager, self.is_client, refused)


def decode_ping(data: bytes) -> Ping | None:
    """Return the ping in a datagram; None for any other datagram, which is ignored (QB-085)."""
    if len(data) != SIZE:
        return None
    flags, signature, cookie, manager = _LAYOUT.unpack(data)
    if signature != SIGNATURE:
        return None
    return Ping(cookie, guid_of(manager), bool(flags & _CLIENT), bool(flags & _REFUSED))  # QB-083

"""Encodes the authentication data at the end of a PDU, [MS-RPCE] 2.2.2.11: padding, sec_trailer and a token.

| header | body | padding | type | level | padding length | 0 | context number | token |
                                                     1 byte each ........... 4 bytes

The trailer begins at a multiple of 16 bytes from the beginning of the body; a reader takes the length of the
padding as it is written, because older peers align to 4.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from reliquary.wire.rpc.header import Header, PduFault

TRAILER_SIZE: Final = 8
TRAILER_ALIGNMENT: Final = 16

_LITTLE: Final = Struct("<4BI")
_BIG: Final = Struct(">4BI")


class Verifier(NamedTuple):
    """auth_verifier_co_t: the security context, the level and the token."""

    kind: int
    """auth_type: 9 is SPNEGO, 10 is NTLM."""
    level: int
    """A `Protection`, or another number."""
    number: int
    """auth_context_id: the number of a security context of the connection."""
    token: bytes = b""
    padding: int = 0

    def trailer(self) -> bytes:
        """Return the 8 bytes before the token."""
        return _LITTLE.pack(self.kind, self.level, self.padding, 0, self.number)

    def encode(self) -> bytes:
        """Return the trailer and the token."""
        return self.trailer() + self.token


def decode_verifier(pdu: bytes | memoryview, header: Header, body: int) -> Verifier:
    """Return the verifier of a PDU that has a token; its padding may begin at the offset `body`."""
    at = header.length - header.auth - TRAILER_SIZE
    if at < body:
        raise PduFault(f"no room for a token of {header.auth} bytes")
    layout = _BIG if header.big_endian else _LITTLE
    kind, level, padding, _, number = layout.unpack_from(pdu, at)
    if padding > at - body:
        raise PduFault(f"{padding} bytes of padding, where {at - body} are possible")
    return Verifier(kind, level, number, bytes(pdu[at + TRAILER_SIZE : header.length]), padding)

"""Encodes the 16 bytes with which every PDU begins, C706 12.6.3.1.

0        1        2        3        4                 8         10        12        16
| major  | minor  | type   | flags  | representation  | length  | auth    | call    |

`length` counts the whole PDU, `auth` the bytes of the token at its end without the trailer before it.
Numbers after the representation are in the order that the representation names.

Modules of this folder:

    header      what opens every PDU
    binds       bind, alter_context, their answers, bind_nak, auth3
    calls       request, response, fault, co_cancel, orphaned, shutdown
    verifier    what authenticates a PDU, at its end
    trailer     what verifies the headers of a request, at the end of its stub
    features    what client and server can do beyond C706
    syntaxes    identifiers of interfaces and of transfer syntaxes
    statuses    why a call or a connection is refused
    protection  the levels of authentication
    towers      where an interface is, as the endpoint mapper writes it
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

HEADER_SIZE: Final = 16
MAJOR: Final = 5
MINOR: Final = 0
LITTLE_ENDIAN: Final = bytes((0x10, 0, 0, 0))
"""The data representation of sent PDUs: little-endian, ASCII, IEEE."""

_LITTLE: Final = Struct("<4B4sHHI")
_BIG: Final = Struct(">4B4sHHI")


class PduFault(Exception):
    """Says that bytes are no PDU; the text has the reason."""


class PduType(IntEnum):
    """PTYPE: the PDUs that are sent over a connection."""

    REQUEST = 0
    RESPONSE = 2
    FAULT = 3
    BIND = 11
    BIND_ACK = 12
    BIND_NAK = 13
    ALTER_CONTEXT = 14
    ALTER_CONTEXT_RESP = 15
    AUTH3 = 16
    SHUTDOWN = 17
    CO_CANCEL = 18
    ORPHANED = 19


class Flag:
    """pfc_flags as plain numbers: they are tested for each fragment, and members of an enum are slow."""

    FIRST: Final = 0x01
    LAST: Final = 0x02
    PENDING_CANCEL: Final = 0x04
    """The bit 0x04 in requests: a cancel is pending."""
    HEADER_SIGN: Final = 0x04
    """The flag for signed headers in binds, alter_contexts and answers, [MS-RPCE] 2.2.2.3."""
    MULTIPLEX: Final = 0x10
    """PFC_CONC_MPX: several calls may be outstanding."""
    DID_NOT_EXECUTE: Final = 0x20
    MAYBE: Final = 0x40
    """A call without an answer; ignored here, as [MS-RPCE] 2.2.2.2 allows."""
    OBJECT: Final = 0x80
    """An object UUID follows the header of a request."""


WHOLE: Final = Flag.FIRST | Flag.LAST
"""The flags of a PDU that is the first and the last of its message."""


class Header(NamedTuple):
    """The common fields of a PDU."""

    type: int
    """A `PduType`, or another number."""
    flags: int
    length: int
    auth: int
    call: int
    big_endian: bool = False
    version: tuple[int, int] = (MAJOR, MINOR)
    representation: bytes = LITTLE_ENDIAN

    def encode(self) -> bytes:
        """Return the header in little-endian order."""
        return _LITTLE.pack(
            MAJOR, MINOR, self.type, self.flags, LITTLE_ENDIAN, self.length, self.auth, self.call
        )


def decode_header(data: bytes | memoryview, at: int = 0) -> Header:
    """Return the header at an offset; `data` has at least 16 bytes from there."""
    order = data[at + 4] >> 4
    if order > 1:
        raise PduFault(f"the integer representation {order} is not 0 or 1: these bytes are not DCE/RPC")
    layout = _LITTLE if order else _BIG
    major, minor, kind, flags, representation, length, auth, call = layout.unpack_from(data, at)
    return Header(kind, flags, length, auth, call, not order, (major, minor), representation)

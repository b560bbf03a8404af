"""Encodes the PDUs of a call, C706 12.6.4.6 to 12.6.4.11.

request    header, alloc_hint u32, context u16, opnum u16, object UUID if flagged, stub
response   header, alloc_hint u32, context u16, cancel count u8, a zero byte, stub
fault      header, alloc_hint u32, context u16, cancel count u8, flags u8, status u32, 4 zero bytes

co_cancel, orphaned and shutdown are a header alone.  `alloc_hint` counts the bytes of the stubs of this
fragment and of those that follow ([MS-RPCE] 2.2.2.6).
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from reliquary.wire.rpc.header import (
    HEADER_SIZE,
    LITTLE_ENDIAN,
    MAJOR,
    MINOR,
    WHOLE,
    Flag,
    Header,
    PduFault,
    PduType,
)

CALL_SIZE: Final = 24
"""The number of bytes before the stub of a request without an object, and of a response."""
OBJECT_SIZE: Final = 16

_FAULT_SIZE: Final = 32
_REQUEST: Final = (Struct("<IHH"), Struct(">IHH"))
_FAULT: Final = (Struct("<IHBBI"), Struct(">IHBBI"))
_REQUEST_OUT: Final = Struct("<4B4sHHIIHH")
_RESPONSE_OUT: Final = Struct("<4B4sHHIIHBB")
_FAULT_OUT: Final = Struct("<4B4sHHIIHBBII")


class Request(NamedTuple):
    """The fields before the stub of a request."""

    hint: int
    """The announced size of the stub; DCE/RPC calls it alloc_hint."""
    context: int
    opnum: int
    stub: int
    """The offset at which the stub begins."""


class Fault(NamedTuple):
    """The content of a fault PDU."""

    context: int
    status: int


def decode_request(pdu: bytes | memoryview, header: Header) -> Request:
    """Return the fields before the stub; an object UUID is skipped, because no interface here has objects."""
    stub = CALL_SIZE + (OBJECT_SIZE if header.flags & Flag.OBJECT else 0)
    if header.length < stub:
        raise PduFault(f"a request has {header.length} bytes, fewer than its fields take")
    hint, context, opnum = _REQUEST[header.big_endian].unpack_from(pdu, HEADER_SIZE)
    return Request(hint, context, opnum, stub)


def check_response(header: Header) -> None:
    """Refuse a response that ends before its stub; a client does not use the fields there."""
    if header.length < CALL_SIZE:
        raise PduFault(f"a response has {header.length} bytes, fewer than its fields take")


def decode_fault(pdu: bytes | memoryview, header: Header) -> Fault:
    """Return the content of a fault; bytes after its status are ignored, as [MS-RPCE] 2.2.2.8 demands."""
    layout = _FAULT[header.big_endian]
    if header.length < HEADER_SIZE + layout.size:
        raise PduFault(f"a fault has {header.length} bytes, fewer than its fields take")
    _, context, _, _, status = layout.unpack_from(pdu, HEADER_SIZE)
    return Fault(context, status)


def request_head(flags: int, length: int, auth: int, call: int, hint: int, context: int, opnum: int) -> bytes:
    """Return the 24 bytes before the stub of a request."""
    return _REQUEST_OUT.pack(
        MAJOR, MINOR, PduType.REQUEST, flags, LITTLE_ENDIAN, length, auth, call, hint, context, opnum
    )


def response_head(
    flags: int, length: int, auth: int, call: int, hint: int, context: int, cancels: int
) -> bytes:
    """Return the 24 bytes before the stub of a response.

    Only the low byte of the context is written: Windows and Samba servers do so, Samba's tests of the
    protocol demand it, and no known client reads the field.
    """
    return _RESPONSE_OUT.pack(
        MAJOR,
        MINOR,
        PduType.RESPONSE,
        flags,
        LITTLE_ENDIAN,
        length,
        auth,
        call,
        hint,
        context & 0xFF,
        cancels,
        0,
    )


def encode_fault(call: int, context: int, status: int, *, executed: bool, cancels: int = 0) -> bytes:
    """Return a fault; `executed` is True if the method may have run."""
    flags = WHOLE if executed else WHOLE | Flag.DID_NOT_EXECUTE
    return _FAULT_OUT.pack(
        MAJOR,
        MINOR,
        PduType.FAULT,
        flags,
        LITTLE_ENDIAN,
        _FAULT_SIZE,
        0,
        call,
        _FAULT_SIZE,
        context,
        cancels,
        0,
        status,
        0,
    )


def encode_bare(kind: PduType, call: int) -> bytes:
    """Return a co_cancel, an orphaned or a shutdown."""
    return Header(kind, WHOLE, HEADER_SIZE, 0, call).encode()

"""Encodes and checks the verification trailer at the end of a request's stub, [MS-RPCE] 2.2.2.13.

| stub | gap to 4 | 8a e3 13 71 02 f4 36 71 | command u16, length u16, data | ... |

It repeats, under the protection of the stub, the fields that the headers carry without one: a change of
them on the way is detected. Bit 14 marks the last command, bit 15 one that must be understood.
All its numbers are little-endian, also where the header is big-endian.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from reliquary.wire.rpc.binds import encode_syntax
from reliquary.wire.rpc.header import LITTLE_ENDIAN, PduType
from reliquary.wire.rpc.syntaxes import SyntaxId

SIGNATURE: Final = bytes.fromhex("8ae3137102f43671")

_BITMASK: Final = 1
_PCONTEXT: Final = 2
_HEADER2: Final = 3
_COMMAND: Final = 0x3FFF
_END: Final = 0x4000
_MUST: Final = 0x8000
_HEADER_SIGNING: Final = 0x01

_HEAD: Final = Struct("<HH")
_U32: Final = Struct("<I")
_HEADER: Final = Struct("<BBH4sIHH")
_SIZES: Final = {_BITMASK: _U32.size, _PCONTEXT: 40, _HEADER2: _HEADER.size}


class TrailerFault(Exception):
    """Says that the trailer contradicts the headers, or cannot be read."""


class Claims(NamedTuple):
    """The values of the headers that the trailer must repeat."""

    interface: SyntaxId
    transfer: SyntaxId
    call: int
    context: int
    opnum: int
    header_signing: bool
    """Whether the client announced signed headers in its bind."""
    representation: bytes = LITTLE_ENDIAN


def cut_trailer(stub: bytes, claims: Claims) -> bytes:
    """Return the stub without its trailer, if it has one; raise TrailerFault if it contradicts the
    headers."""
    at = stub.rfind(SIGNATURE)
    if at < 0 or at % 4:
        return stub
    _check_commands(stub, at + len(SIGNATURE), claims)
    return stub[:at]


def _check_commands(stub: bytes, at: int, claims: Claims) -> None:
    """Check each command up to the one that is marked as the last."""
    while True:
        if at + _HEAD.size > len(stub):
            raise TrailerFault("the trailer has no last command")
        command, length = _HEAD.unpack_from(stub, at)
        at += _HEAD.size
        data = stub[at : at + length]
        if len(data) < length or length % 4:
            raise TrailerFault(f"a command of {length} bytes, where {len(data)} are left")
        _check(command, data, claims)
        if command & _END:
            return
        at += length


def _check(command: int, data: bytes, claims: Claims) -> None:
    """Compare one command with the values of the headers."""
    kind = command & _COMMAND
    size = _SIZES.get(kind)
    if size is None:
        if command & _MUST:
            raise TrailerFault(f"command {kind} of the trailer is not known")
    elif size != len(data):
        raise TrailerFault(f"command {kind} of the trailer has {len(data)} bytes, not {size}")
    elif kind == _BITMASK:
        if _U32.unpack(data)[0] & _HEADER_SIGNING and not claims.header_signing:
            raise TrailerFault("the bind did not offer to sign headers")
    elif kind == _PCONTEXT:
        if data != encode_syntax(claims.interface) + encode_syntax(claims.transfer):
            raise TrailerFault("the trailer names another presentation context than the bind")
    else:
        _check_header(data, claims)


def _check_header(data: bytes, claims: Claims) -> None:
    """Compare rpc_sec_vt_header2 with the header of the request."""
    kind, _, _, representation, call, context, opnum = _HEADER.unpack(data)
    found = (kind, representation, call, context, opnum)
    if found != (PduType.REQUEST, claims.representation, claims.call, claims.context, claims.opnum):
        raise TrailerFault("the trailer repeats another header than that of the request")


def encode_trailer(size: int, claims: Claims) -> bytes:
    """Return the bytes after a stub of `size` bytes: the gap and a trailer with all three commands."""
    commands = (
        (_BITMASK, _U32.pack(_HEADER_SIGNING if claims.header_signing else 0)),
        (
            _HEADER2,
            _HEADER.pack(
                PduType.REQUEST, 0, 0, claims.representation, claims.call, claims.context, claims.opnum
            ),
        ),
        (_PCONTEXT | _END, encode_syntax(claims.interface) + encode_syntax(claims.transfer)),
    )
    body = b"".join(_HEAD.pack(command, len(data)) + data for command, data in commands)
    return bytes(-size % 4) + SIGNATURE + body

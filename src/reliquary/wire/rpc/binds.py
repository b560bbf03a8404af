"""Encodes the PDUs that negotiate interfaces and transfer syntaxes, C706 12.6.4.1 to 12.6.4.5.

bind, alter_context             max_xmit u16, max_recv u16, group u32, count u8, 3 zero bytes, elements
   element                      number u16, count u8, a zero byte, interface, transfer syntaxes
   syntax                       GUID, major u16, minor u16
bind_ack, alter_context_resp    max_xmit, max_recv, group, length u16, address, gap to 4, count, results
   result                       result u16, reason u16, transfer syntax
bind_nak                        reason u16, count of versions u8, versions of 2 bytes, gap to 4
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple
from uuid import UUID

from reliquary.wire.rpc.header import HEADER_SIZE, MAJOR, MINOR, WHOLE, Header, PduFault, PduType
from reliquary.wire.rpc.syntaxes import SyntaxId
from reliquary.wire.rpc.verifier import Verifier

NO_SYNTAX: Final = SyntaxId(UUID(int=0), 0)
"""The transfer syntax of a result that is not an acceptance."""


class Result(IntEnum):
    """Values of p_cont_def_result_t: the answer to one presentation context."""

    ACCEPTED = 0
    USER_REJECTION = 1
    PROVIDER_REJECTION = 2
    NEGOTIATE_ACK = 3
    """An answer about features, [MS-RPCE] 2.2.2.4."""


class Reason(IntEnum):
    """p_provider_reason_t: the reason for the rejection of a presentation context."""

    NOT_SPECIFIED = 0
    ABSTRACT_SYNTAX = 1
    TRANSFER_SYNTAXES = 2
    LOCAL_LIMIT = 3


class Nak(IntEnum):
    """The reason for the refusal of a whole bind, [MS-RPCE] 2.2.2.5."""

    NOT_SPECIFIED = 0
    CONGESTION = 1
    LOCAL_LIMIT = 2
    PROTOCOL_VERSION = 4
    AUTH_TYPE = 8
    CHECKSUM = 9


class ContextElement(NamedTuple):
    """p_cont_elem_t: an interface, and the transfer syntaxes that the client supports for it."""

    number: int
    """p_cont_id: the number that requests use for it."""
    interface: SyntaxId
    transfers: tuple[SyntaxId, ...]


class Bind(NamedTuple):
    """The body of a bind or an alter_context."""

    transmit: int
    """max_xmit_frag: the longest fragment that the client sends."""
    receive: int
    """max_recv_frag: the longest fragment that the client takes."""
    group: int
    """assoc_group_id; 0 asks for a new one."""
    elements: tuple[ContextElement, ...]


class ContextResult(NamedTuple):
    """p_result_t: the answer to one element."""

    result: int
    reason: int = 0
    """A `Reason`, or the features if the result is NEGOTIATE_ACK."""
    transfer: SyntaxId = NO_SYNTAX


class BindAck(NamedTuple):
    """The body of a bind_ack or an alter_context_resp."""

    transmit: int
    receive: int
    group: int
    address: str
    """The secondary address: the server's port as text; empty in an alter_context_resp."""
    results: tuple[ContextResult, ...]


class _Layouts(NamedTuple):
    """The `Struct`s of one byte order."""

    sizes: Struct
    u16: Struct
    element: Struct
    version: Struct
    result: Struct


def _layouts(order: str) -> _Layouts:
    return _Layouts(*(Struct(order + layout) for layout in ("HHI", "H", "HBB", "HH", "HH")))


_LITTLE: Final = _layouts("<")
_BIG: Final = _layouts(">")


class _Body:
    """Reads the body of a PDU."""

    __slots__ = ("at", "big_endian", "data", "end", "layouts")

    def __init__(self, data: bytes | memoryview, header: Header) -> None:
        self.data = data
        self.end = header.length
        self.at = HEADER_SIZE
        self.big_endian = header.big_endian
        self.layouts = _BIG if header.big_endian else _LITTLE

    def numbers(self, layout: Struct) -> tuple[int, ...]:
        return layout.unpack(self.raw(layout.size))

    def raw(self, size: int) -> bytes:
        at = self.at
        if at + size > self.end:
            raise PduFault(f"the body ends at {self.end}, and {size} bytes are wanted at {at}")
        self.at = at + size
        return bytes(self.data[at : at + size])

    def count(self) -> int:
        """Return the number of elements that follow; the gap after it may be missing if there are none."""
        number = self.raw(1)[0]
        self.at += -self.at % 4
        return number

    def syntax(self) -> SyntaxId:
        raw = self.raw(16)
        major, minor = self.numbers(self.layouts.version)
        return SyntaxId(UUID(bytes=raw) if self.big_endian else UUID(bytes_le=raw), major, minor)


def encode_syntax(syntax: SyntaxId) -> bytes:
    """Return the 20 bytes of a syntax identifier."""
    return syntax.uuid.bytes_le + _LITTLE.version.pack(syntax.major, syntax.minor)


def decode_bind(pdu: bytes | memoryview, header: Header) -> Bind:
    """Return the body of a bind or an alter_context."""
    body = _Body(pdu, header)
    transmit, receive, group = body.numbers(body.layouts.sizes)
    count = body.count()
    return Bind(transmit, receive, group, tuple(_element(body) for _ in range(count)))


def _element(body: _Body) -> ContextElement:
    number, count, _ = body.numbers(body.layouts.element)
    interface = body.syntax()
    return ContextElement(number, interface, tuple(body.syntax() for _ in range(count)))


def encode_bind(kind: PduType, call: int, flags: int, bind: Bind, verifier: Verifier | None = None) -> bytes:
    """Return the bytes of a bind or an alter_context."""
    parts = [
        _LITTLE.sizes.pack(bind.transmit, bind.receive, bind.group),
        bytes((len(bind.elements), 0, 0, 0)),
    ]
    for element in bind.elements:
        parts.append(_LITTLE.element.pack(element.number, len(element.transfers), 0))
        parts.extend(encode_syntax(syntax) for syntax in (element.interface, *element.transfers))
    return _finish(kind, call, flags, parts, verifier)


def decode_ack(pdu: bytes | memoryview, header: Header) -> BindAck:
    """Return the body of a bind_ack or an alter_context_resp."""
    body = _Body(pdu, header)
    transmit, receive, group = body.numbers(body.layouts.sizes)
    (length,) = body.numbers(body.layouts.u16)
    address = body.raw(length).rstrip(b"\0").decode("ascii", "replace")
    body.at += -body.at % 4
    count = body.count()
    return BindAck(transmit, receive, group, address, tuple(_result(body) for _ in range(count)))


def _result(body: _Body) -> ContextResult:
    result, reason = body.numbers(body.layouts.result)
    return ContextResult(result, reason, body.syntax())


def encode_ack(kind: PduType, call: int, flags: int, ack: BindAck, verifier: Verifier | None = None) -> bytes:
    """Return the bytes of a bind_ack or an alter_context_resp."""
    address = ack.address.encode("ascii") + b"\0" if ack.address else b""
    gap = bytes(-(2 + len(address)) % 4)
    parts = [
        _LITTLE.sizes.pack(ack.transmit, ack.receive, ack.group),
        _LITTLE.u16.pack(len(address)) + address + gap,
        bytes((len(ack.results), 0, 0, 0)),
    ]
    for result, reason, transfer in ack.results:
        parts += [_LITTLE.result.pack(result, reason), encode_syntax(transfer)]
    return _finish(kind, call, flags, parts, verifier)


def decode_nak(pdu: bytes | memoryview, header: Header) -> int:
    """Return the reason of a bind_nak; the bytes after it are not used."""
    body = _Body(pdu, header)
    return body.numbers(body.layouts.u16)[0]


def encode_nak(call: int, reason: int) -> bytes:
    """Return a bind_nak, which names the only version that is supported."""
    body = _LITTLE.u16.pack(reason) + bytes((1, MAJOR, MINOR, 0, 0, 0))
    return Header(PduType.BIND_NAK, WHOLE, HEADER_SIZE + len(body), 0, call).encode() + body


def encode_auth3(call: int, flags: int, verifier: Verifier) -> bytes:
    """Return an rpc_auth_3, [MS-RPCE] 2.2.2.10: 4 unused bytes, then the token."""
    token = verifier.encode()
    length = HEADER_SIZE + 4 + len(token)
    header = Header(PduType.AUTH3, flags, length, len(verifier.token), call)
    return header.encode() + bytes(4) + token


def _finish(kind: PduType, call: int, flags: int, parts: Sequence[bytes], verifier: Verifier | None) -> bytes:
    """Return the body with a header before it and the token after it.

    The trailer of these PDUs is aligned to 4 bytes, and not to 16 as [MS-RPCE] 2.2.2.11 says: Windows and
    Samba write it with 4, and some readers take all bytes after the last element as the trailer.
    """
    body = b"".join(parts)
    end = verifier.encode() if verifier else b""
    token = len(verifier.token) if verifier else 0
    header = Header(kind, flags | WHOLE, HEADER_SIZE + len(body) + len(end), token, call)
    return header.encode() + body + end

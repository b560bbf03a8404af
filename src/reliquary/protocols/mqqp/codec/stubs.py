"""Reads and writes the stubs of all methods: bytes <--> values of `qm2qm` and `qmcomm`, NDR 2.0 and NDR64.

    a call comes in     interface, opnum, stub --decode_request-->  Request
    it is answered      Response               --encode_response--> stub, in parts
    we call             Request                --encode_request-->  interface_of, opnum_of, stub
    we are answered     Request, stub          --decode_response--> Response

Incoming stubs are checked as [MS-RPCE] 3.1.1.5.3 demands at target level 6.0 (QP-013): ranges, counts that
depend on each other, tags of unions, NULL pointers with a size, and stubs that end early.  After the last
parameter, fewer than 8 bytes of any value may follow: peers fill a stub up to a multiple of 4 or 8.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import PeerFault
from reliquary.protocols.mqqp.codec import qm2qm_stubs, qmcomm_stubs
from reliquary.protocols.mqqp.codec.methods import Method
from reliquary.protocols.mqqp.codec.qm2qm import Request, Response
from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId

PADDING_LIMIT: Final = 7
"""The most bytes that may follow the last parameter."""

_METHODS: Final[dict[SyntaxId, dict[int, Method]]] = {
    QM2QM: qm2qm_stubs.METHODS,
    QMCOMM: qmcomm_stubs.METHODS,
}
_PLACES: Final[dict[type[Request], tuple[SyntaxId, int]]] = {
    method.request: (interface, opnum)
    for interface, methods in _METHODS.items()
    for opnum, method in methods.items()
}
_ANSWERS: Final = {**qm2qm_stubs.ANSWERS, **qmcomm_stubs.ANSWERS}


class StubFault(PeerFault):
    """A stub that cannot be read, or whose values are out of range; `status` is that of the fault PDU."""

    def __init__(self, why: str) -> None:
        super().__init__(FaultStatus.BAD_STUB_DATA, why, spec="MS-RPCE 3.1.1.5.3")


class UnknownOpnum(PeerFault):
    """A method that the interface does not have, or that this program does not answer."""

    def __init__(self, opnum: int) -> None:
        super().__init__(FaultStatus.OP_RANGE, f"there is no method with opnum {opnum}", spec="MS-MQQP 3.1.4")


def interface_of(request: Request) -> SyntaxId:
    """Return the interface that the method belongs to."""
    return _PLACES[type(request)][0]


def opnum_of(request: Request) -> int:
    """Return the number of the method in its interface."""
    return _PLACES[type(request)][1]


def decode_request(interface: SyntaxId, opnum: int, stub: bytes, encoding: Encoding) -> Request:
    """Return the request in a stub; UnknownOpnum or StubFault has the status with which a call is refused."""
    method = _METHODS[interface].get(opnum)
    if method is None:
        raise UnknownOpnum(opnum)
    reader = NdrReader(stub, encoding)
    try:
        request = method.read(reader)
    except NdrFault as fault:
        raise StubFault(str(fault)) from fault
    _check_end(reader)
    return request


def encode_response(response: Response, encoding: Encoding) -> list[bytes]:
    """Return the stub of a response in parts; a packet among them is not copied."""
    writer = NdrWriter(encoding)
    _ANSWERS[type(response)].write(writer, response)
    return writer.parts()


def encode_request(request: Request, encoding: Encoding) -> bytes:
    """Return the stub of a request to another manager."""
    interface, opnum = _PLACES[type(request)]
    writer = NdrWriter(encoding)
    _METHODS[interface][opnum].write(writer, request)
    return writer.take()


def decode_response(request: Request, stub: bytes, encoding: Encoding) -> Response:
    """Return the response of a server to a request; StubFault if it cannot be read."""
    interface, opnum = _PLACES[type(request)]
    reader = NdrReader(stub, encoding)
    try:
        response = _ANSWERS[_METHODS[interface][opnum].answer].read(reader)
    except NdrFault as fault:
        raise StubFault(str(fault)) from fault
    _check_end(reader)
    return response


def _check_end(reader: NdrReader) -> None:
    if reader.left > PADDING_LIMIT:
        raise StubFault(f"{reader.left} bytes follow the last parameter")

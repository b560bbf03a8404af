"""Any bytes are the stub of a call of MQQP, or are refused with a status; nothing else may happen.

By hand, with coverage for a guide:  python tests/fuzz/mqqp.py -max_total_time=60
The arguments are libFuzzer's; a file's name runs that file alone.  What is found stays in the present
folder as crash-…  `test_mqqp.py` throws seeded mutations at this function in every run of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reliquary.base.faults import UsageError
from reliquary.protocols.mqqp.codec.qm2qm import Request
from reliquary.protocols.mqqp.codec.qmcomm import OpenRemoteQueue
from reliquary.protocols.mqqp.codec.stubs import (
    StubFault,
    UnknownOpnum,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    interface_of,
    opnum_of,
)
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId

INTERFACES = (QM2QM, QMCOMM)


def try_request(interface: SyntaxId, opnum: int, stub: bytes, encoding: Encoding) -> Request | None:
    """Return the request in these bytes, if they are one; what is written for it says as much."""
    try:
        request = decode_request(interface, opnum, stub, encoding)
    except (StubFault, UnknownOpnum) as fault:
        _check_refusal(fault)
        return None
    assert (interface_of(request), opnum_of(request)) == (interface, opnum)
    plain = Encoding(encoding.wide)
    try:
        again = decode_request(interface, opnum, encode_request(request, plain), plain)
    except UsageError:
        assert isinstance(request, OpenRemoteQueue)  # names no queue: the server refuses it
        return request
    if not isinstance(request, OpenRemoteQueue):  # a name may be written in another way
        assert again == request
    return request


def try_response(request: Request, stub: bytes, encoding: Encoding) -> bool:
    """Return whether these bytes are an answer to the request; if so it is written to an equal answer."""
    try:
        response = decode_response(request, stub, encoding)
    except StubFault as fault:
        _check_refusal(fault)
        return False
    plain = Encoding(encoding.wide)
    assert decode_response(request, b"".join(encode_response(response, plain)), plain) == response
    return True


def _check_refusal(fault: StubFault | UnknownOpnum) -> None:
    wanted = FaultStatus.BAD_STUB_DATA if isinstance(fault, StubFault) else FaultStatus.OP_RANGE
    assert fault.status == wanted
    assert fault.why


def try_stub(data: bytes) -> None:
    """Try one input of the fuzzer: a byte for interface and encoding, one for the opnum, then the stub."""
    if len(data) < 2:
        return
    encoding = Encoding(wide=bool(data[0] & 1), big_endian=bool(data[0] & 2))
    request = try_request(INTERFACES[data[0] >> 2 & 1], data[1], data[2:], encoding)
    if request is not None:
        try_response(request, data[2:], encoding)


def main() -> None:
    """Fuzz, beginning with a stub of each method in both transfer syntaxes."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.driver import fuzz
    from tests.protocols.mqqp.codec.test_stubs import EXAMPLES

    seeds = {}
    for request in EXAMPLES:
        for encoding in (NDR20, NDR64):
            head = encoding.wide | INTERFACES.index(interface_of(request)) << 2
            stub = bytes([head, opnum_of(request)]) + encode_request(request, encoding)
            seeds[f"{type(request).__name__}-{head}"] = stub
    fuzz("mqqp", seeds, try_stub)


if __name__ == "__main__":
    main()

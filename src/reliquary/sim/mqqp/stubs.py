"""Passes some requests and responses of a run through the codec, each in a random encoding.

The decoded value must equal the original; the machines of both sites then use the decoded value.
"""

from __future__ import annotations

from typing import Final, TypeVar

from reliquary.protocols.mqqp.codec.qm2qm import Request, Response
from reliquary.protocols.mqqp.codec.stubs import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    interface_of,
    opnum_of,
)
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Violation
from reliquary.wire.ndr.encoding import NDR20, NDR64
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM

SHARE: Final = 0.2
"""The share of values that pass through the codec."""
Value = TypeVar("Value", Request, Response)
NAMES: Final = {QM2QM: "qm2qm", QMCOMM: "qmcomm"}


def interface_name(request: Request) -> str:
    """Return the name of the interface that a request calls."""
    return NAMES[interface_of(request)]


class Stubs:
    """Encodes and decodes some values, and passes the others unchanged."""

    def __init__(self, chance: SeededChance) -> None:
        self._chance = chance

    def carry_request(self, request: Request) -> Request:
        """Return the request that the server reads."""
        if not self._chance.happens(SHARE):
            return request
        encoding = self._chance.pick((NDR20, NDR64))
        stub = encode_request(request, encoding)
        return _unchanged(request, decode_request(interface_of(request), opnum_of(request), stub, encoding))

    def carry_response(self, request: Request, response: Response) -> Response:
        """Return the response to a request that the client reads."""
        if not self._chance.happens(SHARE):
            return response
        encoding = self._chance.pick((NDR20, NDR64))
        stub = b"".join(encode_response(response, encoding))
        return _unchanged(response, decode_response(request, stub, encoding))


def _unchanged(sent: Value, read: Value) -> Value:
    if sent != read:
        raise Violation(f"codec: {sent} was sent, and {read} arrived")
    return read

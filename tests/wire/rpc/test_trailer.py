"""Tests the trailer that verifies the headers of a request, at the end of its stub."""

from __future__ import annotations

from struct import pack

import pytest

from reliquary.wire.rpc.binds import encode_syntax
from reliquary.wire.rpc.syntaxes import MGMT, NDR20_SYNTAX, NDR64_SYNTAX, QM2QM
from reliquary.wire.rpc.trailer import SIGNATURE, Claims, TrailerFault, cut_trailer, encode_trailer

CLAIMS = Claims(QM2QM, NDR20_SYNTAX, call=7, context=1, opnum=9, header_signing=True)
STUB = b"the stub"


def trailed(*commands: tuple[int, bytes], stub: bytes = STUB) -> bytes:
    return stub + SIGNATURE + b"".join(pack("<HH", kind, len(data)) + data for kind, data in commands)


@pytest.mark.parametrize("size", range(9))
def test_a_trailer_is_cut_off_with_its_signature(size: int) -> None:
    stub = bytes(size)
    whole = stub + encode_trailer(size, CLAIMS)
    assert cut_trailer(whole, CLAIMS) == stub + bytes(-size % 4)


def test_a_stub_without_a_trailer_stays_as_it_is() -> None:
    assert cut_trailer(STUB, CLAIMS) == STUB
    assert cut_trailer(b"", CLAIMS) == b""


def test_a_signature_that_is_not_aligned_is_a_part_of_the_stub() -> None:
    assert cut_trailer(b"x" + SIGNATURE + bytes(8), CLAIMS) == b"x" + SIGNATURE + bytes(8)


@pytest.mark.parametrize(
    "claims",
    [
        CLAIMS._replace(interface=MGMT),
        CLAIMS._replace(transfer=NDR64_SYNTAX),
        CLAIMS._replace(call=8),
        CLAIMS._replace(context=2),
        CLAIMS._replace(opnum=0),
        CLAIMS._replace(header_signing=False),
        CLAIMS._replace(representation=bytes(4)),
    ],
    ids=["interface", "transfer syntax", "call", "context", "opnum", "header signing", "byte order"],
)
def test_headers_that_differ_from_the_trailer_are_detected(claims: Claims) -> None:
    with pytest.raises(TrailerFault):
        cut_trailer(STUB + encode_trailer(len(STUB), CLAIMS), claims)


def test_a_client_need_not_announce_that_it_signs_headers() -> None:
    assert cut_trailer(trailed((0x4001, bytes(4))), CLAIMS) == STUB


def test_a_command_that_is_not_known_may_be_ignored() -> None:
    assert cut_trailer(trailed((9, b"some"), (0x4002, both())), CLAIMS) == STUB


def both() -> bytes:
    return encode_syntax(QM2QM) + encode_syntax(NDR20_SYNTAX)


@pytest.mark.parametrize(
    "whole",
    [
        trailed((0xC009, b"some")),
        trailed((0x4001, bytes(8))),
        trailed((0x4002, both()[:36])),
        trailed((0x4003, bytes(12))),
        trailed((0x4009, b"odd")),
        trailed((1, bytes(4))),
        trailed(),
        trailed((0x4002, both()))[:-4],
    ],
    ids=[
        "a command that must be understood",
        "a long bitmask",
        "a short context",
        "a short header",
        "a length that is no multiple of 4",
        "no last command",
        "no command",
        "a command that ends early",
    ],
)
def test_a_trailer_that_cannot_be_read_is_refused(whole: bytes) -> None:
    with pytest.raises(TrailerFault):
        cut_trailer(whole, CLAIMS)

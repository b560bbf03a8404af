"""Tests the authentication data at the end of a PDU."""

from __future__ import annotations

import pytest

from reliquary.wire.rpc.header import Header, PduFault, PduType
from reliquary.wire.rpc.verifier import Verifier, decode_verifier

BODY = 24


def pdu(verifier: bytes, auth: int, *, big_endian: bool = False) -> tuple[bytes, Header]:
    data = bytes(BODY + 4) + verifier
    return data, Header(PduType.REQUEST, 3, len(data), auth, 1, big_endian)


def test_a_verifier_is_encoded_and_decoded() -> None:
    verifier = Verifier(10, 5, 0x01020304, b"token", padding=4)
    assert verifier.encode() == bytes.fromhex("0a 05 04 00 04030201") + b"token"
    data, header = pdu(verifier.encode(), 5)
    assert decode_verifier(data, header, BODY) == verifier


def test_a_big_endian_context_number_is_decoded() -> None:
    data, header = pdu(bytes.fromhex("0a 05 00 00 01020304") + b"token", 5, big_endian=True)
    assert decode_verifier(data, header, BODY).number == 0x01020304


def test_a_token_longer_than_the_pdu_is_refused() -> None:
    data, header = pdu(Verifier(10, 5, 1, b"token").encode(), 60)
    with pytest.raises(PduFault, match="no room for a token of 60 bytes"):
        decode_verifier(data, header, BODY)


def test_padding_longer_than_the_body_is_refused() -> None:
    data, header = pdu(Verifier(10, 5, 1, b"token", padding=5).encode(), 5)
    with pytest.raises(PduFault, match="5 bytes of padding, where 4 are possible"):
        decode_verifier(data, header, BODY)

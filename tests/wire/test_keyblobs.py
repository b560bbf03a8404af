"""Tests keys in the format of CryptoAPI."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.wire.keyblobs import PublicKeyBlob, SessionKeyBlob
from reliquary.wire.packet.fields import PacketFault

SESSION_KEY = SessionKeyBlob(0x6610, b"\1\2\3")
SESSION_KEY_RAW = bytes.fromhex("01020000 10660000 00a40000 030201")
PUBLIC_KEY = PublicKeyBlob(65537, 0x8001)
PUBLIC_KEY_RAW = bytes.fromhex("06020000 00a40000 52534131 10000000 01000100 0180")


@pytest.mark.spec("QB-093")
def test_a_session_key_is_written_and_read_with_the_lowest_byte_first() -> None:
    assert SESSION_KEY.encode() == SESSION_KEY_RAW
    assert SessionKeyBlob.decode(SESSION_KEY_RAW) == SESSION_KEY


@pytest.mark.spec("QB-092", "QB-292")
def test_a_public_key_is_encoded_and_decoded() -> None:
    assert PUBLIC_KEY.encode() == PUBLIC_KEY_RAW
    assert PublicKeyBlob.decode(PUBLIC_KEY_RAW) == PUBLIC_KEY


@given(st.integers(0, 0xFFFFFFFF), st.binary(max_size=40))
def test_any_session_key_is_encoded_and_decoded(algorithm: int, encrypted: bytes) -> None:
    blob = SessionKeyBlob(algorithm, encrypted)
    assert SessionKeyBlob.decode(blob.encode()) == blob


@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        pytest.param(PUBLIC_KEY_RAW, 0, id="a public key"),
        pytest.param(SESSION_KEY_RAW[:8] + b"\0\x24\0\0key", 8, id="for signatures"),
        pytest.param(SESSION_KEY_RAW[:11], 0, id="cut"),
        pytest.param(b"", 0, id="nothing"),
    ],
)
def test_what_is_no_session_key_is_refused(raw: bytes, offset: int) -> None:
    with pytest.raises(PacketFault) as caught:
        SessionKeyBlob.decode(raw)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        pytest.param(SESSION_KEY_RAW + bytes(9), 0, id="a session key"),
        pytest.param(PUBLIC_KEY_RAW[:-1], 12, id="cut"),
        pytest.param(PUBLIC_KEY_RAW + b"x", 12, id="too long"),
        pytest.param(PUBLIC_KEY_RAW[:19], 0, id="cut early"),
        pytest.param(PUBLIC_KEY_RAW[:12] + bytes(8), 12, id="no modulus"),
    ],
)
def test_what_is_no_public_key_is_refused(raw: bytes, offset: int) -> None:
    with pytest.raises(PacketFault) as caught:
        PublicKeyBlob.decode(raw)
    assert caught.value.offset == offset


def test_half_a_byte_of_modulus_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="15 bits"):
        PublicKeyBlob(3, 0x7FFF).encode()

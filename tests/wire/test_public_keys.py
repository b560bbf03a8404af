"""Tests MQDSPUBLICKEY and MQDSPUBLICKEYS, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import PeerFault
from reliquary.wire.public_keys import (
    PROVIDERS,
    Provider,
    PublicKey,
    Purpose,
    decode_key,
    decode_keys,
    encode_key,
    encode_keys,
)

KEY = PublicKey(Provider("A", 1), Purpose.SIGNATURE, 0xC0FFEE01, 65537)
BYTES = bytes.fromhex(
    "18000000 04000000 01000000"  # 24 bytes of key, 4 of name, PROV_RSA_FULL
    "4100 0000"
    "06 02 0000 00240000 52534131 20000000 01000100"
    "01EEFFC0"
)


@pytest.mark.spec("DM-088", "DM-089")
def test_a_key_is_written_as_printed_and_reads_back() -> None:
    assert encode_key(KEY) == BYTES
    assert decode_key(BYTES) == KEY
    assert KEY.bits == 32


def test_a_list_has_its_length_and_its_count() -> None:
    data = encode_keys([BYTES, BYTES])
    assert data[:8] == (8 + 2 * len(BYTES)).to_bytes(4, "little") + (2).to_bytes(4, "little")
    assert decode_keys(data) == (KEY, KEY)
    assert decode_keys(encode_keys([])) == ()


@pytest.mark.spec("DM-088")
def test_there_are_the_three_providers() -> None:
    assert [provider.name.split()[1] for provider in PROVIDERS] == ["Base", "Enhanced", "Enhanced"]
    assert [provider.type for provider in PROVIDERS] == [1, 1, 24]


@given(st.sampled_from(Purpose), st.integers(1, 2**2048), st.integers(1, 2**32 - 1))
def test_every_key_is_read_back(purpose: Purpose, modulus: int, exponent: int) -> None:
    key = PublicKey(PROVIDERS[2], purpose, modulus, exponent)
    assert decode_key(encode_key(key)) == key


BAD = {
    "ends early": BYTES[:8],
    "does not fit": BYTES[:-1],
    "bytes follow the key": BYTES + b"\0",
    "ends with a zero": BYTES[:14] + b"\x42" + BYTES[15:],
    "no public key of RSA": BYTES[:16] + b"\x07" + BYTES[17:],
    "for encryption or signatures": BYTES[:20] + b"\x01" + BYTES[21:],
    "says that it has": BYTES[:28] + b"\x21" + BYTES[29:],
    "not UTF-16": BYTES[:12] + b"\x00\xd8\x00\x00" + BYTES[16:],
}


@pytest.mark.parametrize(("why", "data"), BAD.items(), ids=BAD)
def test_what_is_no_key_is_refused(why: str, data: bytes) -> None:
    with pytest.raises(PeerFault, match=why):
        decode_key(data)


@pytest.mark.parametrize(
    "data", [b"", encode_keys([BYTES])[:-1], encode_keys([BYTES]) + b"\0", b"\x08\0\0\0\x01\0\0\0"]
)
def test_what_is_no_list_is_refused(data: bytes) -> None:
    with pytest.raises(PeerFault):
        decode_keys(data)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    for decode in (decode_key, decode_keys):
        try:
            decode(data)
        except PeerFault:
            continue

"""Tests the ping; the published ones are in tests/protocols/mqqb/codec/test_sample.py."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.wire.packet.ping import Ping, decode_ping
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed

OWN = UUID(int=7)
RAW = Ping(4, OWN, is_client=True).encode()


@given(st.builds(Ping, strategies.long, strategies.guid, st.booleans(), st.booleans()))
def test_any_ping_is_encoded_and_decoded(ping: Ping) -> None:
    assert decode_ping(ping.encode()) == ping


@pytest.mark.spec("QB-077", "QB-078", "QB-081", "QB-082", "QB-083", "QB-084")
def test_a_request_has_its_signature_and_bits_without_a_meaning_are_ignored() -> None:
    assert RAW[:4] == b"\1\0HU"
    assert Ping(4, OWN).encode()[:2] == b"\0\0"
    assert decode_ping(changed(RAW, 0, to=b"\xfd\xff")) == Ping(4, OWN, is_client=True)


@pytest.mark.spec("QB-085")
@pytest.mark.parametrize("data", [b"", RAW[:-1], RAW + b"\0", changed(RAW, 2, to=b"UH")])
def test_any_other_datagram_is_no_ping(data: bytes) -> None:
    assert decode_ping(data) is None


@pytest.mark.spec("QB-079", "QB-080", "QB-086", "QB-311")
def test_an_answer_repeats_cookie_and_client_and_has_its_own_manager() -> None:
    answer = Ping(4, OWN, is_client=True).answer(UUID(int=8), refused=True)
    assert answer == Ping(4, UUID(int=8), is_client=True, refused=True)


def test_a_cookie_wraps_at_32_bits() -> None:
    assert decode_ping(Ping((1 << 32) + 5, OWN).encode()) == Ping(5, OWN)

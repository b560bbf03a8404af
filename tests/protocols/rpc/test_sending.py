"""A stub into the PDUs that carry it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.rpc.fragments import Pdu, Pdus
from reliquary.protocols.rpc.guards import Guard
from reliquary.protocols.rpc.sending import fragments
from reliquary.wire.rpc.calls import CALL_SIZE, request_head
from reliquary.wire.rpc.header import Flag
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.verifier import decode_verifier
from tests.protocols.rpc.pretended_security import NTLM, PretendedClient


def head(flags: int, length: int, auth: int, left: int) -> bytes:
    return request_head(flags, length, auth, 7, left, 1, 2)


def hint(pdu: Pdu) -> int:
    return int.from_bytes(pdu.data[16:20], "little")


@settings(max_examples=50)
@given(
    st.lists(st.binary(max_size=700), max_size=5),
    st.integers(200, 400),
    st.sampled_from((None, Protection.CONNECT, Protection.INTEGRITY, Protection.PRIVACY)),
)
def test_the_fragments_carry_the_stub(parts: list[bytes], longest: int, level: Protection | None) -> None:
    sender, taker = (
        None if level is None else Guard(NTLM, 0, level, PretendedClient()) for _ in ("sender", "taker")
    )
    whole = b"".join(parts)
    found = list(Pdus(longest).feed(fragments(parts, longest, head, sender)))
    stub = b""
    for pdu in found:
        assert hint(pdu) == len(whole) - len(stub)
        if pdu.header.auth:
            assert taker is not None
            stub += taker.open(pdu, CALL_SIZE, decode_verifier(pdu.data, pdu.header, CALL_SIZE))
        else:
            stub += pdu.data[CALL_SIZE:]
    assert stub == whole
    assert [bool(pdu.header.flags & Flag.FIRST) for pdu in found] == [True] + [False] * (len(found) - 1)
    assert [bool(pdu.header.flags & Flag.LAST) for pdu in found] == [False] * (len(found) - 1) + [True]


@pytest.mark.parametrize("size", [0, 5816, 5817, 11632])
def test_a_fragment_is_filled_before_the_next_begins(size: int) -> None:
    found = list(Pdus(5840).feed(fragments([bytes(size)], 5840, head, None)))
    assert len(found) == max(1, -(-size // 5816))

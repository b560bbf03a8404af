"""Tests bytes into PDUs, fragments into stubs, and stubs into fragments."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.rpc.fragments import Assembly, OversizedPdu, Pdus, cut
from reliquary.wire.rpc.calls import encode_bare
from reliquary.wire.rpc.header import PduFault, PduType
from tests.protocols.rpc.links import pieces, request

STREAM = b"".join(
    (
        request(b"one", call=1),
        encode_bare(PduType.CO_CANCEL, 1),
        request(b"", call=2),
        request(bytes(500), call=3),
    )
)


@settings(max_examples=50)
@given(st.integers())
def test_bytes_may_come_in_any_pieces(seed: int) -> None:
    pdus = Pdus(5840)
    found = [pdu for piece in pieces(STREAM, Random(seed)) for pdu in pdus.feed(piece)]
    assert [pdu.header.call for pdu in found] == [1, 1, 2, 3]
    assert b"".join(pdu.data for pdu in found) == STREAM


def test_bytes_may_come_one_by_one() -> None:
    pdus = Pdus(5840)
    assert sum(1 for at in range(len(STREAM)) for _ in pdus.feed(STREAM[at : at + 1])) == 4


def test_a_view_that_is_used_again_does_not_change_what_was_read() -> None:
    room = bytearray(STREAM[:20])
    pdus = Pdus(5840)
    assert list(pdus.feed(memoryview(room))) == []
    room[:] = bytes(20)
    assert next(pdus.feed(STREAM[20:])).header.call == 1


@pytest.mark.parametrize("length", [0, 15, 5841, 0xFFFF])
def test_an_impossible_length_is_refused_before_the_rest_comes(length: int) -> None:
    data = bytearray(encode_bare(PduType.SHUTDOWN, 9))
    data[8:10] = length.to_bytes(2, "little")
    with pytest.raises(OversizedPdu, match=f"a PDU of {length} bytes") as caught:
        list(Pdus(5840).feed(bytes(data)))
    assert caught.value.header.call == 9


def test_what_is_no_header_is_refused() -> None:
    with pytest.raises(PduFault):
        list(Pdus(5840).feed(b"\xff" * 16))


def test_the_beginning_of_a_pdu_can_be_forgotten() -> None:
    pdus = Pdus(5840)
    list(pdus.feed(STREAM[:10]))
    pdus.clear()
    assert len(list(pdus.feed(STREAM))) == 4


def test_an_assembly_joins_what_it_was_given() -> None:
    assembly = Assembly()
    states = [assembly.started]
    assembly.add(b"")
    states.append(assembly.started)
    assert states == [False, True]
    assembly.add(memoryview(b"ab"))
    assembly.add(b"cd")
    assert (assembly.size, assembly.stub()) == (4, b"abcd")


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=40), max_size=6), st.integers(1, 30))
def test_a_stub_is_cut_into_full_fragments_and_a_rest(parts: list[bytes], room: int) -> None:
    found = [b"".join(pieces) for pieces in cut(parts, room)]
    assert b"".join(found) == b"".join(parts)
    assert all(len(fragment) == room for fragment in found[:-1])
    assert len(found[-1]) <= room
    assert len(found) == max(1, -(-sum(map(len, parts)) // room))

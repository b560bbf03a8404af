"""Tests the 16 bytes that open every PDU."""

from __future__ import annotations

import pytest

from reliquary.wire.rpc.header import HEADER_SIZE, Flag, Header, PduFault, PduType, decode_header

BIND = bytes.fromhex("05 00 0b 03  10000000  4800 1000  01020304")
BIND_BIG = bytes.fromhex("05 00 0b 03  00000000  0048 0010  04030201")


def test_a_header_is_encoded_and_decoded() -> None:
    header = Header(PduType.BIND, Flag.FIRST | Flag.LAST, 72, 16, 0x04030201)
    assert header.encode() == BIND
    assert decode_header(BIND) == header


def test_a_big_endian_header_is_read_in_its_order() -> None:
    header = decode_header(BIND_BIG)
    assert header.big_endian
    assert header[:5] == decode_header(BIND)[:5]
    assert header.representation == bytes(4)


def test_a_header_is_read_where_it_stands() -> None:
    assert decode_header(b"before" + BIND, 6) == decode_header(BIND)
    assert len(BIND) == HEADER_SIZE


def test_a_type_and_a_version_that_do_not_exist_are_left_to_the_reader() -> None:
    header = decode_header(bytes.fromhex("04 01 63 00  10000000  1000 0000  00000000"))
    assert (header.type, header.version) == (0x63, (4, 1))


@pytest.mark.parametrize("order", [2, 7, 15])
def test_an_unknown_order_of_bytes_is_refused(order: int) -> None:
    with pytest.raises(PduFault, match=f"the integer representation {order} is not 0 or 1"):
        decode_header(BIND[:4] + bytes((order << 4,)) + BIND[5:])

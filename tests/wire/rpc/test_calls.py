"""Tests the PDUs of a call."""

from __future__ import annotations

import pytest

from reliquary.wire.rpc.calls import (
    Fault,
    Request,
    check_response,
    decode_fault,
    decode_request,
    encode_bare,
    encode_fault,
    request_head,
    response_head,
)
from reliquary.wire.rpc.header import WHOLE, Flag, Header, PduFault, PduType, decode_header
from reliquary.wire.rpc.statuses import FaultStatus

REQUEST = bytes.fromhex("05000003 10000000 1c000000 07000000 04000000 0200 0900 61626364")


def test_a_request_is_encoded_and_decoded() -> None:
    assert request_head(WHOLE, 28, 0, 7, 4, 2, 9) + b"abcd" == REQUEST
    assert decode_request(REQUEST, decode_header(REQUEST)) == Request(4, 2, 9, 24)


def test_an_object_stands_before_the_stub() -> None:
    header = Header(PduType.REQUEST, WHOLE | Flag.OBJECT, 44, 0, 1)
    assert decode_request(bytes(44), header).stub == 40
    with pytest.raises(PduFault):
        decode_request(bytes(44), header._replace(length=39))


def test_a_big_endian_request_is_decoded() -> None:
    data = bytes.fromhex("05000003 00000000 001c 0000 00000007 00000004 0002 0009 61626364")
    assert decode_request(data, decode_header(data)) == Request(4, 2, 9, 24)


def test_a_request_that_ends_before_its_stub_is_refused() -> None:
    with pytest.raises(PduFault, match="a request has 23 bytes"):
        decode_request(REQUEST, decode_header(REQUEST)._replace(length=23))


def test_a_response_has_the_low_byte_of_its_context() -> None:
    head = response_head(Flag.FIRST, 24, 0, 7, 0, 0x1002, 3)
    assert head == bytes.fromhex("05000201 10000000 18000000 07000000 00000000 0200 03 00")


def test_a_response_that_ends_before_its_stub_is_refused() -> None:
    check_response(Header(PduType.RESPONSE, WHOLE, 24, 0, 1))
    with pytest.raises(PduFault, match="a response has 23 bytes"):
        check_response(Header(PduType.RESPONSE, WHOLE, 23, 0, 1))


@pytest.mark.parametrize("executed", [True, False])
def test_a_fault_is_encoded_and_decoded(executed: bool) -> None:
    data = encode_fault(7, 0x1002, FaultStatus.OP_RANGE, executed=executed)
    header = decode_header(data)
    assert (len(data), header.length, header.call) == (32, 32, 7)
    assert bool(header.flags & Flag.DID_NOT_EXECUTE) is not executed
    assert decode_fault(data, header) == Fault(0x1002, FaultStatus.OP_RANGE)


def test_what_follows_the_status_of_a_fault_is_ignored() -> None:
    data = encode_fault(7, 1, FaultStatus.PROTOCOL, executed=True) + b"extended"
    assert decode_fault(data, decode_header(data)._replace(length=len(data))).status == FaultStatus.PROTOCOL


def test_a_fault_without_a_status_is_refused() -> None:
    data = encode_fault(7, 1, FaultStatus.PROTOCOL, executed=True)
    with pytest.raises(PduFault, match="a fault has 27 bytes"):
        decode_fault(data, decode_header(data)._replace(length=27))


@pytest.mark.parametrize("kind", [PduType.CO_CANCEL, PduType.ORPHANED, PduType.SHUTDOWN])
def test_some_pdus_are_a_header_alone(kind: PduType) -> None:
    data = encode_bare(kind, 5)
    assert decode_header(data) == Header(kind, WHOLE, 16, 0, 5)

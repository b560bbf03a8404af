"""Tests stubs of all methods: read back, equal to a second encoder in both byte orders, and refused when
wrong.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import ReadDescriptor, Request
from reliquary.protocols.mqqp.codec.stubs import (
    PADDING_LIMIT,
    StubFault,
    UnknownOpnum,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    interface_of,
    opnum_of,
)
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM
from tests.protocols.mqqp.codec.second_encoder import pack, request_items, response_items
from tests.protocols.mqqp.codec.strategies import ANSWERS, requests
from tests.protocols.mqqp.codec.vector import recorded_calls

READ = ReadDescriptor(queue=0x64, queue_again=0x64, action=0, timeout=5000, request=7)
BOTH = [pytest.param(NDR20, id="NDR20"), pytest.param(NDR64, id="NDR64")]


def decoded(request: Request, stub: bytes, encoding: Encoding) -> Request:
    return decode_request(interface_of(request), opnum_of(request), stub, encoding)


# -- both ways


@pytest.mark.parametrize("encoding", BOTH)
@given(request=requests)
@settings(max_examples=50)
def test_a_request_is_read_back_and_equals_that_of_a_second_encoder(
    request: Request, encoding: Encoding
) -> None:
    stub = encode_request(request, encoding)
    assert stub == pack(request_items(request), encoding)
    assert decoded(request, stub, encoding) == request


@pytest.mark.parametrize("encoding", BOTH)
@given(request=requests)
@settings(max_examples=50)
def test_a_big_endian_request_says_what_a_little_endian_one_says(
    request: Request, encoding: Encoding
) -> None:
    big = encoding._replace(big_endian=True)
    assert decoded(request, pack(request_items(request), big), big) == request


@pytest.mark.parametrize("encoding", BOTH)
@given(request=requests, data=st.data())
@settings(max_examples=50)
def test_a_response_is_read_back_in_both_byte_orders(
    request: Request, encoding: Encoding, data: st.DataObject
) -> None:
    response = data.draw(ANSWERS[type(request)])
    stub = b"".join(encode_response(response, encoding))
    assert stub == pack(response_items(response), encoding)
    assert decode_response(request, stub, encoding) == response
    big = encoding._replace(big_endian=True)
    assert decode_response(request, pack(response_items(response), big), big) == response


def test_every_method_has_an_example_and_an_answer() -> None:
    assert len(ANSWERS) == 15
    places = {(interface_of(request), opnum_of(request)) for request in map(_example, ANSWERS)}
    assert places == {(QM2QM, opnum) for opnum in range(11)} | {(QMCOMM, opnum) for opnum in (2, 3, 4, 31)}


def _example(kind: type[Request]) -> Request:
    return next(each for each in EXAMPLES if type(each) is kind)


EXAMPLES: list[Request] = [
    qm2qm.StartReceive(READ),
    qm2qm.EndReceive(qm2qm.NO_HANDLE, qm2qm.Acknowledge.ACK),
    qm2qm.OpenQueue(qm2qm.NO_HANDLE, 0, 1, 1, 1),
    qm2qm.CloseQueue(qm2qm.NO_HANDLE),
    qm2qm.CloseCursor(1, 2),
    qm2qm.CancelReceive(1, 1, 7),
    qm2qm.PurgeQueue(1),
    qm2qm.GetServerPort(qm2qm.PortKind.READ),
    qm2qm.GetVersion(),
    qm2qm.StartReceive2(READ),
    qm2qm.StartReceiveByLookupId(5, READ),
    qmcomm.OpenRemoteQueue(
        name="DIRECT=OS:here\\private$\\orders", access=1, share=0, client=qm2qm.NO_HANDLE
    ),
    qmcomm.CloseRemoteQueueContext(qm2qm.NO_HANDLE),
    qmcomm.CreateRemoteCursor(1),
    qmcomm.GetServerPort(1),
]


@pytest.mark.parametrize(("file", "encoding"), [("scapy_ndr20.hex", NDR20), ("scapy_ndr64.hex", NDR64)])
def test_a_recorded_conversation_is_read_and_written(file: str, encoding: Encoding) -> None:
    calls = recorded_calls(file)
    assert [opnum for opnum, _, _ in calls] == [8, 2, 0, 1, 9, 6, 3]
    for opnum, sent, answered in calls:
        request = decode_request(QM2QM, opnum, sent, encoding)
        assert encode_request(request, encoding) == sent
        response = decode_response(request, answered, encoding)
        written = b"".join(encode_response(response, encoding))
        if opnum == 9:  # scapy gives both pointers one referent identifier
            written = written.replace(b"\4\0\2\0", b"\0\0\2\0")
        assert written == answered


@pytest.mark.spec("QP-026")
@pytest.mark.parametrize("encoding", BOTH)
def test_a_large_packet_is_a_part_of_its_own(encoding: Encoding) -> None:
    packet = bytes(qm2qm.LARGEST_PACKET)
    read = ReadDescriptor(queue=1, action=0, timeout=0, request=1, packet=packet)
    parts = encode_response(qm2qm.ReadStarted(qm2qm.NO_HANDLE, read, 0), encoding)
    assert any(part is packet for part in parts)
    stub = b"".join(parts)
    assert decode_response(qm2qm.StartReceive(read), stub, encoding) == qm2qm.ReadStarted(
        qm2qm.NO_HANDLE, read, 0
    )


# -- refused


@pytest.mark.parametrize(("interface", "opnum"), [(QM2QM, 11), (QM2QM, 65535), (QMCOMM, 0), (QMCOMM, 5)])
def test_a_method_that_is_not_there_is_out_of_range(interface: object, opnum: int) -> None:
    with pytest.raises(UnknownOpnum, match=str(opnum)) as refused:
        decode_request(interface, opnum, b"", NDR20)  # type: ignore[arg-type]
    assert refused.value.status == FaultStatus.OP_RANGE


@pytest.mark.spec("QP-013", "QP-019", "QP-072", "QP-088", "QP-115")
@pytest.mark.mqqp("T06")
@pytest.mark.parametrize(
    ("opnum", "stub"),
    [
        pytest.param(0, bytes(16) + b"\1\0\x42\0" + bytes(28), id="dwSize 0x420001"),
        pytest.param(1, bytes(20) + bytes(4), id="dwAck 0"),
        pytest.param(1, bytes(20) + b"\3\0\0\0", id="dwAck 3"),
        pytest.param(2, bytes(16) + b"\x11\0\0\0" + bytes(12), id="dwMQS 17"),
        pytest.param(7, b"\4\0\0\0", id="dwPortType 4"),
    ],
)
@pytest.mark.parametrize("encoding", BOTH)
def test_a_value_out_of_its_range_is_bad_stub_data(opnum: int, stub: bytes, encoding: Encoding) -> None:
    with pytest.raises(StubFault) as refused:
        decode_request(QM2QM, opnum, stub, encoding)
    assert refused.value.status == FaultStatus.BAD_STUB_DATA


def test_qmcomm_has_no_range_for_the_port() -> None:
    assert decode_request(QMCOMM, 31, b"\4\0\0\0", NDR20) == qmcomm.GetServerPort(4)


@pytest.mark.spec("QP-013")
@pytest.mark.parametrize("request_", EXAMPLES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("encoding", BOTH)
def test_a_stub_that_ends_early_is_refused(request_: Request, encoding: Encoding) -> None:
    stub = encode_request(request_, encoding)
    for size in range(len(stub)):
        with pytest.raises(StubFault):
            decoded(request_, stub[:size], encoding)


@pytest.mark.parametrize("request_", EXAMPLES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("encoding", BOTH)
def test_a_stub_may_be_padded_but_not_over_long(request_: Request, encoding: Encoding) -> None:
    stub = encode_request(request_, encoding)
    assert decoded(request_, stub + b"\xbf" * PADDING_LIMIT, encoding) == request_
    with pytest.raises(StubFault, match="follow the last parameter"):
        decoded(request_, stub + bytes(PADDING_LIMIT + 1), encoding)


def test_a_response_may_not_end_early_nor_be_over_long() -> None:
    request = qm2qm.PurgeQueue(1)
    for stub in (b"\0\0\0", bytes(12)):
        with pytest.raises(StubFault):
            decode_response(request, stub, NDR20)

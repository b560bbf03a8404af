"""Tests stub vectors of [MS-MQQP], both ways, in both transfer syntaxes."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.mqqp.codec.qm2qm import (
    NO_HANDLE,
    Acknowledge,
    Action,
    CancelReceive,
    CloseCursor,
    CloseQueue,
    EndReceive,
    GetServerPort,
    GetVersion,
    HandleReturned,
    OpenQueue,
    PortKind,
    PortReturned,
    PurgeQueue,
    ReadDescriptor,
    ReadStarted,
    ReadStarted2,
    Request,
    Response,
    StartReceive,
    StartReceive2,
    StartReceiveByLookupId,
    VersionReturned,
)
from reliquary.protocols.mqqp.codec.qm2qm_stubs import ANSWERS, METHODS
from reliquary.protocols.mqqp.codec.stubs import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    opnum_of,
)
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.syntaxes import QM2QM
from tests.protocols.mqqp.codec.vector import named_stubs

STUBS = named_stubs("qm2qm.hex")
SESSION = UUID("a1b2c3d4-0102-0304-0506-0708090a0b0c")
READ_HANDLE = UUID("11223344-5566-7788-99aa-bbccddeeff00")
CLIENT = UUID("0b162747-99cf-479c-972f-95b776e141c3")
PACKET = bytes.fromhex("10 00 00 00 53 41 4d 50 4c 45 50 4b 54 2e 2e 31")
WANTED = ReadDescriptor(queue=0x64, queue_again=0x64, action=Action.RECEIVE, timeout=5000, request=7)
FOUND = ReadDescriptor(
    queue=0x64,
    queue_again=0x64,
    action=Action.RECEIVE,
    timeout=5000,
    request=7,
    reserved=1,
    arrived=0x60D5A000,
    packet=PACKET,
)
BY_LOOKUP = ReadDescriptor(
    queue=0x64, queue_again=0x64, action=Action.LOOKUP_RECEIVE_CURRENT, timeout=0, request=7
)

REQUESTS: dict[str, Request] = {
    "open request": OpenQueue(CLIENT, 0, 0x64, 0x64, 0x64),
    "receive request": StartReceive(WANTED),
    "end ack": EndReceive(READ_HANDLE, Acknowledge.ACK),
    "end nack": EndReceive(READ_HANDLE, Acknowledge.NACK),
    "close request": CloseQueue(SESSION),
    "close cursor request": CloseCursor(0x64, 3),
    "cancel request": CancelReceive(0x64, 0x64, 7),
    "purge request": PurgeQueue(0x64),
    "port request": GetServerPort(PortKind.READ),
    "version request": GetVersion(),
    "receive2 request": StartReceive2(WANTED),
    "receive2 without descriptor": StartReceive2(None),
    "lookup request": StartReceiveByLookupId(0x0400000000000005, BY_LOOKUP),
}
ANSWERED: dict[str, tuple[str, Response]] = {
    "open answer": ("open request", HandleReturned(SESSION, 0)),
    "open refused": ("open request", HandleReturned(NO_HANDLE, 0xC00E0006)),
    "receive answer": ("receive request", ReadStarted(READ_HANDLE, FOUND, 0)),
    "receive timeout": ("receive request", ReadStarted(NO_HANDLE, WANTED, 0xC00E001B)),
    "end answer": ("end ack", HandleReturned(NO_HANDLE, 0)),
    "close answer": ("close request", HandleReturned(NO_HANDLE, 0)),
    "port answer": ("port request", PortReturned(2105)),
    "version answer": ("version request", VersionReturned(6, 1, 7601)),
    "receive2 answer": ("receive2 request", ReadStarted2(READ_HANDLE, FOUND, 5, 0)),
}


def test_every_vector_has_its_value() -> None:
    assert {name for name, _ in STUBS} == {*REQUESTS, *ANSWERED}
    assert len(STUBS) == 2 * len({name for name, _ in STUBS})


@pytest.mark.spec("QP-007")
@pytest.mark.mqqp("T03")
@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR20", "NDR64"])
def test_a_request_is_encoded_and_decoded(name: str, encoding: Encoding) -> None:
    request, stub = REQUESTS[name], STUBS[name, encoding]
    assert encode_request(request, encoding).hex(" ", 4) == stub.hex(" ", 4)
    assert decode_request(QM2QM, opnum_of(request), stub, encoding) == request


@pytest.mark.spec("QP-007")
@pytest.mark.mqqp("T03")
@pytest.mark.parametrize("name", ANSWERED)
@pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR20", "NDR64"])
def test_an_answer_both_ways(name: str, encoding: Encoding) -> None:
    asked, response = ANSWERED[name]
    stub = STUBS[name, encoding]
    assert b"".join(encode_response(response, encoding)).hex(" ", 4) == stub.hex(" ", 4)
    assert decode_response(REQUESTS[asked], stub, encoding) == response


SIZES = {
    NDR20: {0: (44, 68), 1: (24, 24), 2: (32, 24), 3: (20, 24), 9: (60, 88), 10: (68, 88)},
    NDR64: {0: (48, 76), 1: (24, 24), 2: (32, 24), 3: (20, 24), 9: (64, 92), 10: (72, 92)},
}


@pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR20", "NDR64"])
def test_stubs_have_the_sizes_of_the_table(encoding: Encoding) -> None:
    examples = {opnum_of(request): request for request in REQUESTS.values()} | {9: StartReceive2(WANTED)}
    for opnum, (asked, answered) in SIZES[encoding].items():
        assert len(encode_request(examples[opnum], encoding)) == asked
        kind = METHODS[opnum].answer
        response = {
            ReadStarted: ReadStarted(NO_HANDLE, WANTED, 0),
            ReadStarted2: ReadStarted2(NO_HANDLE, WANTED, 0, 0),
            HandleReturned: HandleReturned(NO_HANDLE, 0),
        }[kind]
        assert len(b"".join(encode_response(response, encoding))) == answered


def test_every_method_from_0_to_10_is_there_with_its_answer() -> None:
    assert list(METHODS) == list(range(11))
    assert {method.answer for method in METHODS.values()} == set(ANSWERS)

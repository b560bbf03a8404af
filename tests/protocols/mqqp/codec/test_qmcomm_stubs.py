"""Tests the stubs of qmcomm, both ways, in both transfer syntaxes."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, PortReturned, Request, Response
from reliquary.protocols.mqqp.codec.qmcomm import (
    CloseRemoteQueueContext,
    ContextClosed,
    CreateRemoteCursor,
    CursorCreated,
    GetServerPort,
    OpenRemoteQueue,
    RemoteQueueOpened,
)
from reliquary.protocols.mqqp.codec.qmcomm_stubs import ANSWERS, METHODS
from reliquary.protocols.mqqp.codec.stubs import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    opnum_of,
)
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.syntaxes import QMCOMM
from tests.protocols.mqqp.codec.vector import named_stubs

STUBS = named_stubs("qmcomm.hex")
SESSION = UUID("a1b2c3d4-0102-0304-0506-0708090a0b0c")
CLIENT = UUID("0b162747-99cf-479c-972f-95b776e141c3")
G = "00112233-4455-6677-8899-AABBCCDDEEFF"


def opening(name: str | None) -> OpenRemoteQueue:
    return OpenRemoteQueue(name=name, access=1, share=0, client=CLIENT, process=0x1234)


REQUESTS: dict[str, Request] = {
    "open public": opening(f"PUBLIC={G}"),
    "open private": opening(f"PRIVATE={G}\\1F"),
    "open direct": opening("DIRECT=OS:a\\private$\\q"),
    "open list": opening(f"DL={G}@d.x"),
    "open multicast": opening("MULTICAST=224.1.1.1:8001"),
    "open subqueue": opening("DIRECT=OS:a\\q;s"),
    "open machine": opening(f"MACHINE={G};DEADLETTER"),
    "open connector": opening(f"CONNECTOR={G};XACTONLY"),
    "open nothing": opening(None),
    "close request": CloseRemoteQueueContext(SESSION),
    "port request": GetServerPort(1),
}
ANSWERED: dict[str, tuple[Request, Response]] = {
    "opened": (opening("DIRECT=OS:a\\q"), RemoteQueueOpened(SESSION, 0x64, 0x64, 0x64, 0)),
    "close answer": (CloseRemoteQueueContext(SESSION), ContextClosed(NO_HANDLE)),
    "cursor answer": (CreateRemoteCursor(0x64), CursorCreated(3, 0)),
    "port answer": (GetServerPort(1), PortReturned(2105)),
}


def test_every_vector_has_its_value() -> None:
    assert {name for name, _ in STUBS} == {*REQUESTS, *ANSWERED}


@pytest.mark.parametrize(("name", "encoding"), [key for key in STUBS if key[0] in REQUESTS], ids=str)
def test_a_request_is_encoded_and_decoded(name: str, encoding: Encoding) -> None:
    request, stub = REQUESTS[name], STUBS[name, encoding]
    assert encode_request(request, encoding).hex(" ", 4) == stub.hex(" ", 4)
    assert decode_request(QMCOMM, opnum_of(request), stub, encoding) == request


@pytest.mark.parametrize(("name", "encoding"), [key for key in STUBS if key[0] in ANSWERED], ids=str)
def test_an_answer_both_ways(name: str, encoding: Encoding) -> None:
    request, response = ANSWERED[name]
    assert b"".join(encode_response(response, encoding)) == STUBS[name, encoding]
    assert decode_response(request, STUBS[name, encoding], encoding) == response


@pytest.mark.parametrize(("encoding", "size"), [(NDR20, 232), (NDR64, 452)])
def test_a_cursor_is_asked_for_behind_a_structure_of_zeros(encoding: Encoding, size: int) -> None:
    stub = encode_request(CreateRemoteCursor(0x64), encoding)
    assert stub == bytes(size - 4) + b"\x64\0\0\0"
    assert decode_request(QMCOMM, 4, stub, encoding) == CreateRemoteCursor(0x64)


def test_the_methods_that_a_remote_read_needs_are_there() -> None:
    assert list(METHODS) == [2, 3, 4, 31]
    assert {method.answer for method in METHODS.values()} == {*ANSWERS, PortReturned}

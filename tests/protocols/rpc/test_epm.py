"""Tests the endpoint mapper: golden bytes, searches in pages, and requests that are refused."""

from __future__ import annotations

from ipaddress import IPv4Address
from struct import pack
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.rpc.epm import (
    EPT_LOOKUP,
    EPT_LOOKUP_HANDLE_FREE,
    EPT_MAP,
    METHODS,
    NIL_UUID,
    NOT_REGISTERED,
    OK,
    VERSIONS,
    Endpoint,
    answer,
    map_request,
    read_map_response,
)
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import EPM, MGMT, NDR20_SYNTAX, NDR64_SYNTAX, QM2QM, QMCOMM, SyntaxId
from reliquary.wire.rpc.towers import Tower, encode_tower
from tests.wire.rpc.test_towers import GOLDEN

HERE = IPv4Address("127.0.0.1")
ENDPOINTS = (
    Endpoint(QM2QM, 2105, "Message Queuing - QMRT V1"),
    Endpoint(QMCOMM, 2103),
    Endpoint(QM2QM, 2116),
    Endpoint(SyntaxId(QM2QM.uuid, 2, 3), 2200),
)
BOTH = pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR 2.0", "NDR64"])


def mapping(
    tower: bytes | None,
    encoding: Encoding = NDR20,
    *,
    handle: UUID = NIL_UUID,
    most: int = 4,
    an_object: UUID | None = None,
    length: int | None = None,
) -> bytes:
    """Return the stub of an ept_map request."""
    request = NdrWriter(encoding)
    request.pointer(0 if an_object is None else 1)
    if an_object is not None:
        request.guid(an_object)
    request.pointer(0 if tower is None else 2)
    if tower is not None:
        request.size(len(tower))
        request.u32(len(tower) if length is None else length)
        request.raw(tower)
    request.handle(handle)
    request.u32(most)
    return request.take()


def looking(
    encoding: Encoding = NDR20,
    *,
    inquiry: int = 0,
    an_object: UUID | None = None,
    interface: SyntaxId | None = None,
    version: int = 1,
    handle: UUID = NIL_UUID,
    most: int = 10,
) -> bytes:
    """Return the stub of an ept_lookup request."""
    request = NdrWriter(encoding)
    request.u32(inquiry)
    request.pointer(0 if an_object is None else 1)
    if an_object is not None:
        request.guid(an_object)
    request.pointer(0 if interface is None else 2)
    if interface is not None:
        request.guid(interface.uuid)
        request.u16(interface.major)
        request.u16(interface.minor)
    request.u32(version)
    request.handle(handle)
    request.u32(most)
    return request.take()


def answered(opnum: int, stub: bytes, encoding: Encoding = NDR20) -> bytes:
    response = answer(opnum, stub, encoding, ENDPOINTS, HERE)
    assert isinstance(response, bytes)
    return response


def found(stub: bytes, encoding: Encoding = NDR20) -> tuple[list[tuple[str, Tower]], UUID, int]:
    """Return the entries of an ept_lookup response with their annotations, the handle and the status."""
    response = NdrReader(answered(EPT_LOOKUP, stub, encoding), encoding)
    handle, count = response.handle(), response.u32()
    response.size()
    assert (response.size(), response.size()) == (0, count)
    annotations = []
    for _ in range(count):
        response.align(8 if encoding.wide else 4)
        assert (response.guid(), response.pointer() != 0, response.size()) == (NIL_UUID, True, 0)
        annotations.append(response.raw(response.size()).rstrip(b"\0").decode())
    towers = NdrWriter(encoding)
    towers.handle(NIL_UUID)
    towers.u32(count)
    for size in (10, 0, count):
        towers.size(size)
    for _ in range(count):
        towers.pointer(1)
    response.align(8 if encoding.wide else 4)
    towers.align(8 if encoding.wide else 4)
    towers.raw(response.raw(response.left))
    stub = towers.take()
    return list(zip(annotations, read_map_response(stub, encoding), strict=True)), handle, _status(stub)


def _status(stub: bytes) -> int:
    return int.from_bytes(stub[-4:], "little")


def ports(stub: bytes) -> list[int]:
    return [tower.port for _, tower in found(stub)[0]]


# ept_map


def test_a_request_and_its_response_have_the_expected_bytes() -> None:
    tower = encode_tower(Tower(QM2QM, NDR20_SYNTAX, 0))
    request = (
        bytes(4) + bytes.fromhex("00000200 4b000000 4b000000") + tower + b"\0" + bytes(20) + pack("<I", 4)
    )
    assert map_request(QM2QM) == request
    response = answer(EPT_MAP, request, NDR20, ENDPOINTS[:2], HERE)
    assert response == b"".join(
        (
            bytes(20),
            pack("<IIII", 1, 4, 0, 1),
            pack("<III", 0x00020004, 75, 75),
            GOLDEN,
            b"\0",
            pack("<I", OK),
        )
    )
    assert read_map_response(response) == [Tower(QM2QM, NDR20_SYNTAX, 2105, HERE)]


@BOTH
@pytest.mark.parametrize("transfer", [NDR20_SYNTAX, NDR64_SYNTAX])
def test_an_interface_is_found_over_each_transfer_syntax(encoding: Encoding, transfer: SyntaxId) -> None:
    tower = encode_tower(Tower(QM2QM, transfer, 135))
    response = answered(EPT_MAP, mapping(tower, encoding, an_object=UUID(int=7)), encoding)
    assert read_map_response(response, encoding) == [
        Tower(QM2QM, transfer, port, HERE) for port in (2105, 2116)
    ]


def test_the_endpoints_come_in_pages() -> None:
    tower = encode_tower(Tower(QM2QM, NDR20_SYNTAX, 0))
    first = answered(EPT_MAP, mapping(tower, most=1))
    handle = NdrReader(first, NDR20).handle()
    assert handle != NIL_UUID
    second = answered(EPT_MAP, mapping(tower, most=1, handle=handle))
    assert [tower.port for page in (first, second) for tower in read_map_response(page)] == [2105, 2116]
    assert NdrReader(second, NDR20).handle() == NIL_UUID
    behind = UUID(int=handle.int + 1)
    assert _status(answered(EPT_MAP, mapping(tower, handle=behind))) == NOT_REGISTERED


@pytest.mark.parametrize(
    "tower",
    [
        pytest.param(encode_tower(Tower(MGMT, NDR20_SYNTAX, 0)), id="another interface"),
        pytest.param(encode_tower(Tower(SyntaxId(QM2QM.uuid, 3), NDR20_SYNTAX, 0)), id="another version"),
        pytest.param(encode_tower(Tower(SyntaxId(QM2QM.uuid, 1, 1), NDR20_SYNTAX, 0)), id="a later version"),
        pytest.param(encode_tower(Tower(QM2QM, EPM, 0)), id="another transfer syntax"),
        pytest.param(encode_tower(Tower(QM2QM, NDR20_SYNTAX, 0)).replace(b"\x07\x02", b"\x08\x02"), id="UDP"),
        pytest.param(b"\xff\xff", id="no tower"),
        pytest.param(b"", id="an empty tower"),
        pytest.param(None, id="NULL"),
    ],
)
def test_what_is_not_here_is_not_found(tower: bytes | None) -> None:
    response = answered(EPT_MAP, mapping(tower))
    assert response == bytes(20) + pack("<IIIII", 0, 4, 0, 0, NOT_REGISTERED)
    assert read_map_response(response) == []


@pytest.mark.parametrize(
    ("stub", "status"),
    [
        pytest.param(b"", FaultStatus.BAD_STUB_DATA, id="nothing"),
        pytest.param(mapping(GOLDEN)[:-1], FaultStatus.BAD_STUB_DATA, id="cut off"),
        pytest.param(mapping(GOLDEN, length=74), FaultStatus.BAD_STUB_DATA, id="two lengths"),
        pytest.param(mapping(bytes(2001)), FaultStatus.BAD_STUB_DATA, id="a long tower"),
        pytest.param(mapping(GOLDEN, most=501), FaultStatus.BAD_STUB_DATA, id="too many"),
        pytest.param(mapping(GOLDEN, handle=UUID(int=5)), FaultStatus.CONTEXT_MISMATCH, id="a handle"),
    ],
)
def test_a_bad_request_is_refused(stub: bytes, status: FaultStatus) -> None:
    assert answer(EPT_MAP, stub, NDR20, ENDPOINTS) == status


@settings(max_examples=50)
@given(st.integers(0, 8), st.binary(max_size=150), st.booleans())
def test_any_stub_gets_a_response_or_a_fault(opnum: int, stub: bytes, wide: bool) -> None:
    assert isinstance(answer(opnum, stub, Encoding(wide), ENDPOINTS), bytes | FaultStatus)


# ept_lookup


@BOTH
def test_all_endpoints_are_listed_with_their_annotations(encoding: Encoding) -> None:
    entries, handle, status = found(looking(encoding, most=10), encoding)
    assert [(text, tower.interface, tower.port) for text, tower in entries] == [
        (each.annotation, each.interface, each.port) for each in ENDPOINTS
    ]
    assert (handle, status) == (NIL_UUID, OK)


def test_a_list_is_continued_with_its_handle() -> None:
    entries, handle, _ = found(looking(most=3))
    assert len(entries) == 3
    rest, handle, _ = found(looking(most=3, handle=handle))
    assert [tower.port for _, tower in rest] == [2200]
    assert handle == NIL_UUID


@pytest.mark.parametrize(
    ("interface", "version", "expected"),
    [
        (QM2QM, 1, [2105, 2116, 2200]),
        (QM2QM, 2, [2105, 2116]),
        (SyntaxId(QM2QM.uuid, 2, 2), 2, [2200]),
        (SyntaxId(QM2QM.uuid, 2, 4), 2, []),
        (QM2QM, 3, [2105, 2116]),
        (SyntaxId(QM2QM.uuid, 2, 2), 3, []),
        (SyntaxId(QM2QM.uuid, 2, 9), 4, [2200]),
        (SyntaxId(QM2QM.uuid, 2, 3), 5, [2105, 2116, 2200]),
        (SyntaxId(QM2QM.uuid, 2, 2), 5, [2105, 2116]),
        (MGMT, 1, []),
        (None, 1, []),
        (QM2QM, 6, []),
    ],
)
def test_a_search_by_interface_looks_at_the_version(
    interface: SyntaxId | None, version: int, expected: list[int]
) -> None:
    assert ports(looking(inquiry=1, interface=interface, version=version)) == expected
    assert ports(looking(inquiry=3, interface=interface, version=version)) == expected


@pytest.mark.parametrize(
    ("inquiry", "an_object", "count"),
    [
        (2, None, 4),
        (2, NIL_UUID, 4),
        (2, UUID(int=1), 0),
        (3, UUID(int=1), 0),
        (0, UUID(int=1), 4),
        (4, None, 0),
    ],
)
def test_no_endpoint_belongs_to_an_object(inquiry: int, an_object: UUID | None, count: int) -> None:
    interface = QM2QM if inquiry == 3 else None
    assert len(ports(looking(inquiry=inquiry, an_object=an_object, interface=interface))) == count


def test_every_version_option_is_known() -> None:
    assert sorted(VERSIONS) == [1, 2, 3, 4, 5]


# The rest


def test_a_handle_that_is_freed_is_null() -> None:
    handle = NdrReader(answered(EPT_LOOKUP, looking(most=1)), NDR20).handle()
    stub = bytes(4) + handle.bytes_le
    assert answered(EPT_LOOKUP_HANDLE_FREE, stub) == bytes(24)
    assert answer(EPT_LOOKUP_HANDLE_FREE, bytes(4) + b"x" * 16, NDR20, ()) == FaultStatus.CONTEXT_MISMATCH


def test_methods_that_change_the_map_are_not_there() -> None:
    refused = [opnum for opnum in range(8) if answer(opnum, b"", NDR20, ()) == FaultStatus.OP_RANGE]
    assert refused == [opnum for opnum in range(8) if opnum not in METHODS] == [0, 1, 5, 6, 7]


@pytest.mark.parametrize(
    "counts",
    [(2, 4, 0, 1), (1, 4, 1, 1), (1, 0, 0, 1), (501, 501, 0, 501)],
)
def test_an_impossible_response_is_refused(counts: tuple[int, ...]) -> None:
    with pytest.raises(NdrFault):
        read_map_response(bytes(20) + pack("<IIII", *counts) + bytes(40))


def test_a_response_with_null_towers_is_read() -> None:
    assert read_map_response(bytes(20) + pack("<IIIIII", 1, 1, 0, 1, 0, OK)) == []

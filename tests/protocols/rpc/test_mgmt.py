"""Tests the management interface: its five methods in both transfer syntaxes."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.rpc.mgmt import (
    INQ_IF_IDS,
    INQ_PRINC_NAME,
    INQ_STATS,
    IS_SERVER_LISTENING,
    METHODS,
    STOP_SERVER_LISTENING,
    STRING_TOO_LONG,
    UNKNOWN_AUTHN_SERVICE,
    Server,
    Statistics,
    answer,
)
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.ndr.reader import NdrReader
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import MGMT, QM2QM

SERVER = Server((QM2QM, MGMT), Statistics(1, 2, 3, 2**32 + 4), {10: "here"})
OTHERS = Encoding(big_endian=True)


def test_the_interfaces_are_listed() -> None:
    two = QM2QM.uuid.bytes_le + pack("<HH", 1, 0) + MGMT.uuid.bytes_le + pack("<HH", 1, 0)
    assert answer(INQ_IF_IDS, b"", NDR20, SERVER) == (
        pack("<IIIII", 0x20000, 2, 2, 0x20004, 0x20008) + two + bytes(4)
    )
    assert answer(INQ_IF_IDS, b"", NDR64, SERVER) == (
        pack("<QQI4xQQ", 0x20000, 2, 2, 0x20004, 0x20008) + two + bytes(4)
    )


@pytest.mark.parametrize(("room", "shown"), [(4, 4), (50, 4), (2, 2), (0, 0)])
def test_the_client_gets_as_many_numbers_as_it_has_room_for(room: int, shown: int) -> None:
    numbers = [1, 2, 3, 4][:shown]
    assert answer(INQ_STATS, pack("<I", room), NDR20, SERVER) == pack(
        f"<II{shown}II", shown, shown, *numbers, 0
    )
    assert answer(INQ_STATS, pack(">I", room), OTHERS, SERVER) == answer(
        INQ_STATS, pack("<I", room), NDR20, SERVER
    )


def test_numbers_in_ndr64_stand_behind_a_wide_count() -> None:
    assert answer(INQ_STATS, pack("<I", 1), NDR64, SERVER) == pack("<I4xQII", 1, 1, 1, 0)


def test_the_server_listens_and_cannot_be_stopped_from_outside() -> None:
    assert answer(IS_SERVER_LISTENING, b"", NDR20, SERVER) == pack("<II", 0, 1)
    assert answer(STOP_SERVER_LISTENING, b"", NDR20, SERVER) == pack("<I", FaultStatus.ACCESS_DENIED)


@pytest.mark.parametrize(
    ("auth_type", "room", "name", "status"),
    [
        (10, 64, b"here\0", 0),
        (10, 5, b"here\0", 0),
        (10, 4, b"\0", STRING_TOO_LONG),
        (10, 0, b"", STRING_TOO_LONG),
        (16, 64, b"\0", UNKNOWN_AUTHN_SERVICE),
        (16, 0, b"", UNKNOWN_AUTHN_SERVICE),
    ],
)
@pytest.mark.parametrize("encoding", [NDR20, NDR64])
def test_the_name_of_the_server_is_given_where_it_has_one(
    auth_type: int, room: int, name: bytes, status: int, encoding: Encoding
) -> None:
    response = answer(INQ_PRINC_NAME, pack("<II", auth_type, room), encoding, SERVER)
    assert isinstance(response, bytes)
    stub = NdrReader(response, encoding)
    assert (stub.size(), stub.size(), stub.raw(stub.size()), stub.u32(), stub.left) == (
        room, 0, name, status, 0
    )  # fmt: skip


@pytest.mark.parametrize(
    ("opnum", "stub"),
    [
        (INQ_STATS, b""),
        (INQ_STATS, pack("<I", 51)),
        (INQ_PRINC_NAME, pack("<I", 10)),
        (INQ_PRINC_NAME, pack("<II", 10, 4097)),
    ],
)
def test_a_bad_stub_is_refused(opnum: int, stub: bytes) -> None:
    assert answer(opnum, stub, NDR20, SERVER) == FaultStatus.BAD_STUB_DATA


def test_there_are_five_methods() -> None:
    assert sorted(METHODS) == [0, 1, 2, 3, 4]
    assert answer(5, b"", NDR20, SERVER) == FaultStatus.OP_RANGE


@settings(max_examples=50)
@given(st.integers(0, 6), st.binary(max_size=40), st.booleans())
def test_any_stub_gets_a_response_or_a_fault(opnum: int, stub: bytes, wide: bool) -> None:
    assert isinstance(answer(opnum, stub, Encoding(wide), SERVER), bytes | FaultStatus)

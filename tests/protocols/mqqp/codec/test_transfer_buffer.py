"""CACTransferBufferV1 is skipped with any of its pointers, and false sizes in it are refused."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest

from reliquary.protocols.mqqp.codec.transfer_buffer import (
    SIZES,
    skip_transfer_buffer,
    write_transfer_buffer,
)
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter
from tests.protocols.mqqp.codec.second_encoder import Item, pack, queue_format

BOTH = pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR20", "NDR64"])
ORDERS = [encoding._replace(big_endian=big) for encoding in (NDR20, NDR64) for big in (False, True)]
POINTER = ("pointer", 0x20000)
NULL = ("pointer", 0)


def skipped(stub: bytes, encoding: Encoding) -> int:
    """Return bytes that are left after the structure."""
    reader = NdrReader(stub, encoding)
    skip_transfer_buffer(reader)
    return reader.left


def tagged(kind: int, tag: int | None = None) -> list[Item]:
    return [("I", kind), ("union", None), ("I", kind if tag is None else tag), ("union", None)]


def members(changes: dict[int, Item]) -> Iterator[Item]:
    """Yield the members behind the union, all zero but for those whose place is in `changes`."""
    for place, letter in enumerate("PPPPPPPPPPPIIPPIPIPIPPPPPPIPPPPIPPIPPiPIPBBHPIPPPPIPPPP"):
        yield changes.get(place, NULL if letter == "P" else (letter, 0))


def array(size: int, unit: int = 1) -> list[Item]:
    return [POINTER, ("count", size), ("bytes", bytes(size * unit))]


def part(size: int, length: int, unit: int = 1) -> list[Item]:
    return [POINTER, ("count", size), ("count", 0), ("count", length), ("bytes", bytes(length * unit))]


PUT: dict[str, tuple[dict[int, Item], list[Item]]] = {
    "pClass": ({0: POINTER}, [("H", 1)]),
    "ppMessageID": ({1: POINTER}, [POINTER, ("guid", UUID(int=1)), ("I", 2)]),
    "ppMessageID, NULL behind it": ({1: POINTER}, [NULL]),
    "ppCorrelationID": ({2: POINTER}, part(20, 20)),
    "ppCorrelationID, NULL behind it": ({2: POINTER}, [NULL]),
    "pPriority and pSentTime": ({3: POINTER, 5: POINTER}, [("I", 7), ("B", 3)]),
    "ppBody": ({10: POINTER, 11: ("I", 3), 12: ("I", 8)}, part(8, 3)),
    "ppTitle": ({14: POINTER, 15: ("I", 5)}, part(5, 5, 2)),
    "ppSenderID": ({23: POINTER, 43: ("H", 28)}, array(28)),
    "ppSenderCert": ({30: POINTER, 31: ("I", 11)}, array(11)),
    "ppwcsProvName": ({33: POINTER, 34: ("I", 4)}, array(4, 2)),
    "ppSymmKeys": ({38: POINTER, 39: ("I", 1)}, array(1)),
    "ppSignature": ({44: POINTER, 45: ("I", 9)}, array(9)),
    "ppSrcQMID": ({47: POINTER}, [POINTER, ("guid", UUID(int=3))]),
    "pUow": ({48: POINTER}, [("bytes", bytes(16))]),
    "ppMsgExtension": ({49: POINTER, 50: ("I", 2)}, part(2, 2)),
    "ppConnectorType": ({52: POINTER}, [POINTER, ("guid", UUID(int=4))]),
    "pulVersion": ({54: POINTER}, [("I", 16)]),
}


@BOTH
def test_zeros_are_written_and_skipped(encoding: Encoding) -> None:
    writer = NdrWriter(encoding)
    write_transfer_buffer(writer)
    stub = writer.take()
    assert stub == bytes(SIZES[encoding.wide])
    assert stub == pack(iter([*tagged(0), NULL, NULL, *members({})]), encoding)
    assert skipped(stub + b"\x64\0\0\0", encoding) == 4


@pytest.mark.parametrize("name", PUT)
@pytest.mark.parametrize("encoding", ORDERS, ids=str)
def test_what_a_pointer_points_to_is_skipped(name: str, encoding: Encoding) -> None:
    changes, behind = PUT[name]
    stub = pack(iter([*tagged(0), NULL, NULL, *members(changes), *behind, ("I", 1)]), encoding)
    assert skipped(stub, encoding) in range(4, 8)


@pytest.mark.parametrize("encoding", ORDERS, ids=str)
def test_all_pointers_at_once_are_skipped_in_their_order(encoding: Encoding) -> None:
    changes: dict[int, Item] = {}
    behind: list[Item] = []
    for name, (each, items) in PUT.items():
        if "NULL" not in name:
            changes |= each
            behind += items
    stub = pack(iter([*tagged(0), NULL, NULL, *members(changes), *behind, ("I", 1)]), encoding)
    assert skipped(stub, encoding) in range(4, 8)
    for size in range(len(stub) - 7):
        with pytest.raises(NdrFault):
            skipped(stub[:size], encoding)


@pytest.mark.parametrize("encoding", ORDERS, ids=str)
def test_names_in_send_are_skipped(encoding: Encoding) -> None:
    formats = [*queue_format("DIRECT=OS:a\\q"), *queue_format("")]
    stub = pack(iter([*tagged(0), POINTER, POINTER, *members({0: POINTER}), *formats, ("H", 1)]), encoding)
    assert skipped(stub + bytes(4), encoding) == 4


@pytest.mark.parametrize("encoding", ORDERS, ids=str)
def test_receive_and_create_cursor_are_skipped(encoding: Encoding) -> None:
    lengths: list[Item] = [("I", 0)] * 4
    for size in (3, 0, 0, 1):
        lengths += [("I", size), POINTER if size else NULL, NULL]
    names = [*array(3, 2), *array(1, 2)]
    receive = pack(iter([*tagged(1), *lengths, *members({}), *names]), encoding)
    assert skipped(receive + bytes(4), encoding) == 4
    cursor = pack(iter([*tagged(2), ("I", 1), ("I", 2), ("I", 3), *members({})]), encoding)
    assert skipped(cursor + bytes(4), encoding) == 4


@pytest.mark.spec("QP-013")
@BOTH
@pytest.mark.parametrize(
    ("kind", "tag"), [(0, 1), (3, 3), (0xFFFFFFFF, 0xFFFFFFFF)], ids=["tag", "type 3", "huge type"]
)
def test_a_type_that_is_not_there_or_not_the_tag_is_refused(kind: int, tag: int, encoding: Encoding) -> None:
    stub = pack(iter([*tagged(kind, tag), NULL, NULL, *members({})]), encoding)
    with pytest.raises(NdrFault, match="uTransferType"):
        skipped(stub, encoding)


@pytest.mark.spec("QP-013")
@BOTH
@pytest.mark.parametrize(
    ("changes", "behind"),
    [
        pytest.param({30: POINTER, 31: ("I", 11)}, array(12), id="an array longer than its member says"),
        pytest.param({30: POINTER, 31: ("I", 11)}, [NULL], id="an array that is NULL and has a length"),
        pytest.param({10: POINTER, 11: ("I", 9), 12: ("I", 8)}, part(8, 9), id="a part beyond its array"),
        pytest.param({10: POINTER, 11: ("I", 3), 12: ("I", 8)}, part(8, 4), id="a part of another length"),
        pytest.param({10: POINTER, 12: ("I", 8)}, [NULL], id="a part that is NULL and has a size"),
        pytest.param({2: POINTER}, part(21, 21), id="a correlation of 21 bytes"),
        pytest.param({23: POINTER, 43: ("H", 0xFFFF)}, array(0xFFFF)[:2], id="an array that is not there"),
    ],
)
def test_false_sizes_of_arrays_are_refused(
    changes: dict[int, Item], behind: list[Item], encoding: Encoding
) -> None:
    stub = pack(iter([*tagged(0), NULL, NULL, *members(changes), *behind]), encoding)
    with pytest.raises(NdrFault):
        skipped(stub + bytes(16), encoding)


@BOTH
def test_a_name_of_more_than_1024_characters_is_refused(encoding: Encoding) -> None:
    lengths: list[Item] = [("I", 0)] * 4 + [("I", 1025), NULL, NULL] + [("I", 0), NULL, NULL] * 3
    stub = pack(iter([*tagged(1), *lengths, *members({})]), encoding)
    with pytest.raises(NdrFault, match="longer than 1024"):
        skipped(stub, encoding)

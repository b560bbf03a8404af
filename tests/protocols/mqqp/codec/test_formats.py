r"""Tests QUEUE_FORMAT: names of all kinds both ways, and structures that contradict themselves."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings

from reliquary.protocols.mqqp.codec.formats import UNKNOWN, read_format, write_format
from reliquary.queueing.model.names.formats import FormatType, IllegalFormatName, parse_single
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter
from tests.protocols.mqqp.codec.second_encoder import pack, queue_format
from tests.protocols.mqqp.codec.strategies import encodings, names

G = "00112233-4455-6677-8899-AABBCCDDEEFF"
BOTH = pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR20", "NDR64"])


def stub_of(name: str, encoding: Encoding) -> bytearray:
    writer = NdrWriter(encoding)
    write_format(writer, name)
    return bytearray(writer.take())


def read(stub: bytes, encoding: Encoding = NDR20) -> str:
    reader = NdrReader(stub, encoding)
    name = read_format(reader)
    assert reader.left == 0
    return name


def with_suffix(name: str, suffix: int) -> str:
    stub = stub_of(name, NDR20)
    stub[1] = suffix
    return read(bytes(stub))


@given(names, encodings)
@settings(max_examples=50)
def test_a_name_is_read_back_in_both_byte_orders(name: str, encoding: Encoding) -> None:
    stub = bytes(stub_of(name, encoding))
    assert stub == pack(queue_format(name), encoding)
    assert read(stub, encoding) == name
    big = encoding._replace(big_endian=True)
    assert read(pack(queue_format(name), big), big) == name


def test_the_arms_are_all_there() -> None:
    examples = {
        FormatType.UNKNOWN: UNKNOWN,
        FormatType.PUBLIC: f"PUBLIC={G}",
        FormatType.PRIVATE: f"PRIVATE={G}\\1F",
        FormatType.DIRECT: "DIRECT=OS:a\\private$\\q",
        FormatType.MACHINE: f"MACHINE={G};DEADLETTER",
        FormatType.CONNECTOR: f"CONNECTOR={G}",
        FormatType.DISTRIBUTION_LIST: f"DL={G}@d.x",
        FormatType.MULTICAST: "MULTICAST=224.1.1.1:8001",
        FormatType.SUBQUEUE: "DIRECT=OS:a\\q;s",
    }
    assert set(examples) == set(FormatType)
    for kind, name in examples.items():
        assert stub_of(name, NDR20)[0] == kind
        assert read(bytes(stub_of(name, NDR20))) == name


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        (f"PUBLIC={G};JOURNAL", 0x81),
        (f"PRIVATE={G}\\1;JOURNAL", 0x81),
        ("DIRECT=OS:a\\q;JOURNAL", 0x81),
        ("DIRECT=OS:a\\SYSTEM$;DEADLETTER", 0x82),
        ("DIRECT=OS:a\\SYSTEM$;DEADXACT", 0x83),
        (f"MACHINE={G};JOURNAL", 0x81),
        (f"CONNECTOR={G};XACTONLY", 0x04),
        ("DIRECT=OS:a\\q;retry", 0x05),
        ("DIRECT=OS:a\\q", 0x00),
    ],
)
def test_a_suffix_has_its_number_and_its_flag(name: str, suffix: int) -> None:
    assert stub_of(name, NDR20)[1] == suffix


def test_a_direct_name_may_have_its_suffix_in_the_number_alone() -> None:
    assert with_suffix("DIRECT=OS:a\\q", 0x81) == "DIRECT=OS:a\\q;JOURNAL"
    assert with_suffix("DIRECT=OS:a\\q;journal", 0x01) == "DIRECT=OS:a\\q;journal"
    assert with_suffix("DIRECT=OS:a\\q;JOURNAL", 0x00) == "DIRECT=OS:a\\q;JOURNAL"


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        (f"PUBLIC={G}", 0x82),
        (f"PRIVATE={G}\\1", 0x05),
        ("DIRECT=OS:a\\q", 0x04),
        ("DIRECT=OS:a\\q", 0x0F),
        ("DIRECT=OS:a\\q;JOURNAL", 0x82),
        ("DIRECT=OS:a\\q;s", 0x81),
        (f"MACHINE={G};JOURNAL", 0x00),
        (f"CONNECTOR={G}", 0x81),
        (f"DL={G}", 0x81),
        ("MULTICAST=224.1.1.1:8001", 0x81),
    ],
)
def test_a_suffix_that_its_kind_cannot_have_names_no_queue(name: str, suffix: int) -> None:
    assert with_suffix(name, suffix) == UNKNOWN
    with pytest.raises(IllegalFormatName):
        parse_single(UNKNOWN)


@BOTH
def test_a_direct_name_without_a_string_names_no_queue(encoding: Encoding) -> None:
    stub = stub_of("DIRECT=OS:a\\q", encoding)
    at = 16 if encoding.wide else 8
    name = read(bytes(stub[:at]) + bytes(8 if encoding.wide else 4), encoding)
    assert name == "DIRECT="
    with pytest.raises(IllegalFormatName):
        parse_single(name)


def test_the_reserved_member_is_not_looked_at() -> None:
    stub = stub_of("DIRECT=OS:a\\q", NDR20)
    stub[2:4] = b"\xff\xff"
    assert read(bytes(stub)) == "DIRECT=OS:a\\q"


# -- structures that are refused


@pytest.mark.spec("QP-013")
@BOTH
@pytest.mark.parametrize("tag", [0, 1, 8, 255])
def test_a_tag_that_is_not_the_type_is_refused(tag: int, encoding: Encoding) -> None:
    stub = stub_of("DIRECT=OS:a\\q", encoding)
    stub[8 if encoding.wide else 4] = tag
    with pytest.raises(NdrFault, match="m_qft is 3, and the tag of the union"):
        read(bytes(stub), encoding)


def test_a_type_that_is_not_there_is_refused() -> None:
    with pytest.raises(NdrFault, match="9 is not a QUEUE_FORMAT_TYPE"):
        read(b"\x09\0\0\0\x09\0\0\0" + bytes(16))


def text_stub(maximum: int, offset: int, actual: int, text: bytes) -> bytes:
    counts = b"".join(number.to_bytes(4, "little") for number in (maximum, offset, actual))
    return b"\3\0\0\0\3\0\0\0\0\0\2\0" + counts + text


@pytest.mark.spec("QP-013")
@pytest.mark.parametrize(
    ("stub", "why"),
    [
        pytest.param(text_stub(2, 0, 3, b"a\0b\0\0\0"), "room for 2", id="longer than its maximum"),
        pytest.param(text_stub(3, 1, 2, b"a\0\0\0"), "begins at 1", id="an offset"),
        pytest.param(text_stub(0, 0, 0, b""), "0 characters", id="no character at all"),
        pytest.param(text_stub(2, 0, 2, b"a\0b\0"), "zero", id="no zero at the end"),
        pytest.param(text_stub(3, 0, 3, b"a\0\0\0\0\0"), "zero", id="a zero before the end"),
        pytest.param(text_stub(2, 0, 2, b"\0\xd8\0\0"), "UTF-16", id="half a pair"),
        pytest.param(text_stub(9, 0, 9, b"a\0\0\0"), "bytes", id="more than there is"),
        pytest.param(text_stub(0x80000000, 0, 2, b"a\0\0\0"), "elements", id="a huge maximum"),
    ],
)
def test_a_string_with_false_sizes_is_refused(stub: bytes, why: str) -> None:
    with pytest.raises(NdrFault, match=why):
        read(stub)


def test_a_string_may_have_more_room_than_it_needs() -> None:
    assert read(text_stub(10, 0, 2, b"a\0\0\0")) == "DIRECT=a"


def test_several_names_at_once_cannot_be_opened() -> None:
    with pytest.raises(IllegalFormatName):
        stub_of(f"PUBLIC={G},PUBLIC={UUID(int=1)}", NDR20)

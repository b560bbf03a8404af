"""REMOTEREADDESC is read and written, and false sizes of its packet are refused."""

from __future__ import annotations

import struct

import pytest

from reliquary.protocols.mqqp.codec.descriptors import (
    read_descriptor,
    read_descriptor2,
    write_descriptor,
    write_descriptor2,
)
from reliquary.protocols.mqqp.codec.qm2qm import FOREVER, ReadDescriptor
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter

READ = ReadDescriptor(queue=9, queue_again=9, action=0, timeout=FOREVER, request=7, packet=b"HELLO")
BOTH = pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR20", "NDR64"])


def stub_of(read: ReadDescriptor, encoding: Encoding) -> bytearray:
    writer = NdrWriter(encoding)
    write_descriptor(writer, read)
    return bytearray(writer.take())


def put(stub: bytearray, at: int, number: int, encoding: Encoding) -> None:
    """Overwrite a pointer or a count."""
    struct.pack_into("<Q" if encoding.wide else "<I", stub, at, number)


@BOTH
@pytest.mark.parametrize("packet", [None, b"", b"HELLO"], ids=["NULL", "empty", "full"])
def test_a_packet_is_there_or_not(packet: bytes | None, encoding: Encoding) -> None:
    read = ReadDescriptor(queue=9, action=0, timeout=0, request=7, packet=packet)
    assert read_descriptor(NdrReader(bytes(stub_of(read, encoding)), encoding)) == read


@pytest.mark.spec("QP-023", "QP-025")
@pytest.mark.mqqp("T12")
@BOTH
def test_reserved_and_the_acknowledgement_may_have_any_value(encoding: Encoding) -> None:
    stub = stub_of(READ, encoding)
    stub[28:32] = b"\xff" * 4
    stub[36:40] = b"\xff" * 4  # eAckNack, and in NDR 2.0 the gap behind it
    found = read_descriptor(NdrReader(bytes(stub), encoding))
    assert found == ReadDescriptor(
        queue=9,
        queue_again=9,
        action=0,
        timeout=FOREVER,
        request=7,
        packet=b"HELLO",
        reserved=0xFFFFFFFF,
    )


@pytest.mark.spec("QP-013")
@BOTH
@pytest.mark.parametrize(
    ("place", "number"),
    [
        pytest.param(1, 6, id="maximum count is larger"),
        pytest.param(1, 4, id="maximum count is smaller"),
        pytest.param(1, 0xFFFFFFFF, id="maximum count is huge"),
        pytest.param(2, 1, id="offset is not 0"),
        pytest.param(3, 4, id="actual count is smaller"),
        pytest.param(3, 6, id="actual count is larger"),
    ],
)
def test_a_packet_whose_counts_are_not_its_size_is_refused(
    place: int, number: int, encoding: Encoding
) -> None:
    stub = stub_of(READ, encoding)
    put(stub, 40 + place * (8 if encoding.wide else 4), number, encoding)
    with pytest.raises(NdrFault):
        read_descriptor(NdrReader(bytes(stub), encoding))


@pytest.mark.spec("QP-013")
@BOTH
def test_no_packet_with_a_size_is_refused(encoding: Encoding) -> None:
    stub = stub_of(READ, encoding)
    put(stub, 40, 0, encoding)
    with pytest.raises(NdrFault, match="lpBuffer is NULL, and dwSize 5"):
        read_descriptor(NdrReader(bytes(stub), encoding))


@pytest.mark.spec("QP-019")
@pytest.mark.mqqp("T06")
@BOTH
def test_a_size_above_the_limit_is_refused_before_the_packet_is_read(encoding: Encoding) -> None:
    stub = stub_of(READ, encoding)
    stub[16:20] = (0x420001).to_bytes(4, "little")
    with pytest.raises(NdrFault, match="dwSize is 4325377, and 4325376 at most"):
        read_descriptor(NdrReader(bytes(stub), encoding))


@pytest.mark.spec("QP-027")
@BOTH
@pytest.mark.parametrize("read", [None, READ], ids=["NULL", "there"])
def test_a_second_descriptor_adds_the_sequential_identifier(
    read: ReadDescriptor | None, encoding: Encoding
) -> None:
    writer = NdrWriter(encoding)
    writer.u32(0)  # what stands before it in a response may end at any multiple of four
    write_descriptor2(writer, read, 0x00FFFFFFFFFFFFFF)
    reader = NdrReader(writer.take(), encoding)
    reader.u32()
    assert read_descriptor2(reader) == (read, 0x00FFFFFFFFFFFFFF)
    assert reader.left == 0

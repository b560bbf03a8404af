"""Reads and writes REMOTEREADDESC and REMOTEREADDESC2, [MS-MQQP] 2.2.2: a read, and the message that it gets.

REMOTEREADDESC    NDR 2.0  NDR64              REMOTEREADDESC2   NDR 2.0  NDR64
hRemoteQueue          0       0               pRemoteReadDesc       0       0
hCursor               4       4               SequentialId          8       8
ulAction              8       8
ulTimeout            12      12               then the REMOTEREADDESC, unless its pointer is NULL
dwSize               16      16
dwQueue              20      20
dwRequestID          24      24
Reserved             28      28
dwArriveTime         32      32
eAckNack             36      36   16 bits, or 32
lpBuffer             40      40   then dwSize, 0, dwSize and the packet, unless the pointer is NULL
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from reliquary.protocols.mqqp.codec.qm2qm import LARGEST_PACKET, ReadDescriptor
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter

_FIRST_REFERENT: Final = 0x00020000
_SECOND_REFERENT: Final = 0x00020004
_LAYOUTS: Final = {False: Struct("<9I"), True: Struct(">9I")}
"""The nine numbers in front of eAckNack; by `Encoding.big_endian`."""


def read_descriptor(reader: NdrReader) -> ReadDescriptor:
    """Read a REMOTEREADDESC with its packet."""
    reader.align(8 if reader.encoding.wide else 4)
    layout = _LAYOUTS[reader.encoding.big_endian]
    queue, cursor, action, timeout, size, queue_again, request, reserved, arrived = layout.unpack(
        reader.raw(layout.size)
    )
    if size > LARGEST_PACKET:  # QP-019
        raise NdrFault(reader.at, f"dwSize is {size}, and {LARGEST_PACKET} at most")
    reader.enum()  # eAckNack is ignored (QP-025)
    return ReadDescriptor(
        queue=queue,
        cursor=cursor,
        action=action,
        timeout=timeout,
        queue_again=queue_again,
        request=request,
        reserved=reserved,
        arrived=arrived,
        packet=_read_packet(reader, size),
    )


def _read_packet(reader: NdrReader, size: int) -> bytes | None:
    """Read lpBuffer, a conformant varying array whose numbers must equal dwSize (QP-013)."""
    if not reader.pointer():
        if size:  # [MS-RPCE] 3.1.1.5.3.3.1.2
            raise NdrFault(reader.at, f"lpBuffer is NULL, and dwSize {size}")
        return None
    found = reader.size(), reader.size(), reader.size()
    if found != (size, 0, size):
        raise NdrFault(reader.at, f"lpBuffer is {found}, and dwSize {size}")
    return reader.raw(size)


def write_descriptor(writer: NdrWriter, read: ReadDescriptor, referent: int = _FIRST_REFERENT) -> None:
    """Write a REMOTEREADDESC with its packet, which is not copied."""
    size = 0 if read.packet is None else len(read.packet)
    writer.align(8 if writer.encoding.wide else 4)
    writer.raw(
        _LAYOUTS[False].pack(
            read.queue,
            read.cursor,
            read.action,
            read.timeout,
            size,
            read.queue_again,
            read.request,
            read.reserved,
            read.arrived,
        )
    )
    writer.enum(0)
    writer.pointer(0 if read.packet is None else referent)
    if read.packet is not None:
        for number in (size, 0, size):
            writer.size(number)
        writer.raw(read.packet)


def read_descriptor2(reader: NdrReader) -> tuple[ReadDescriptor | None, int]:
    """Read a REMOTEREADDESC2: the descriptor and SequentialId."""
    reader.align(8)
    there, sequential = reader.pointer(), reader.u64()
    return (read_descriptor(reader) if there else None), sequential


def write_descriptor2(writer: NdrWriter, read: ReadDescriptor | None, sequential: int) -> None:
    """Write a REMOTEREADDESC2: a pointer to a REMOTEREADDESC and the sequential id."""
    writer.align(8)
    writer.pointer(0 if read is None else _FIRST_REFERENT)
    writer.u64(sequential)
    if read is not None:
        write_descriptor(writer, read, _SECOND_REFERENT)

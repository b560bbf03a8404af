"""A second encoder of stubs, written from the tables of the specifications alone, in either byte order.

A stub is a list of items, each a letter of `struct` or a word of NDR with its value; `pack` aligns and joins.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import ReadDescriptor, Request, Response
from reliquary.queueing.model.names.formats import DirectName, FormatType, Suffix, parse_single
from reliquary.wire.ndr.encoding import Encoding

Item = tuple[str, Any]


def pack(items: Iterator[Item], encoding: Encoding) -> bytes:
    """Return the bytes of a stub."""
    order, wide = ">" if encoding.big_endian else "<", encoding.wide
    words = {"pointer": "Q" if wide else "I", "count": "Q" if wide else "I", "enum": "I" if wide else "H"}
    stub = bytearray()
    for kind, value in items:
        if kind == "bytes":
            stub += value
        elif kind == "union":  # NDR64 aligns a union, its arm and the end of its structure to 8
            stub += bytes(-len(stub) % 8) if wide else b""
        elif kind == "align":
            stub += bytes(-len(stub) % value)
        elif kind == "text":
            stub += f"{value}\0".encode("utf-16-be" if encoding.big_endian else "utf-16-le")
        elif kind == "guid":
            stub += bytes(-len(stub) % 4) + (value.bytes if encoding.big_endian else value.bytes_le)
        else:
            letter = words.get(kind, kind)
            size = struct.calcsize(letter)
            stub += bytes(-len(stub) % size) + struct.pack(order + letter, value)
    return bytes(stub)


def handle(value: UUID) -> list[Item]:
    """Return a context handle: attributes and a GUID."""
    return [("I", 0), ("guid", value)]


def descriptor(read: ReadDescriptor, referent: int) -> Iterator[Item]:
    """Yield the items of a REMOTEREADDESC, [MS-MQQP] 2.2.2.1."""
    size = len(read.packet or b"")
    yield "union", None  # the structure has a pointer, so NDR64 aligns it to 8
    for number in (read.queue, read.cursor, read.action, read.timeout, size):
        yield "I", number
    for number in (read.queue_again, read.request, read.reserved, read.arrived):
        yield "I", number
    yield "enum", 0
    yield "pointer", 0 if read.packet is None else referent
    if read.packet is not None:
        yield from [("count", size), ("count", 0), ("count", size), ("bytes", read.packet)]


def descriptor2(read: ReadDescriptor | None, sequential: int) -> Iterator[Item]:
    """Yield the items of a REMOTEREADDESC2, [MS-MQQP] 2.2.2.2."""
    yield from [("align", 8), ("pointer", 0x20000 if read else 0), ("Q", sequential)]
    if read:
        yield from descriptor(read, 0x20004)


def _text(value: str) -> list[Item]:
    units = len(value.encode("utf-16-le")) // 2 + 1
    return [("count", units), ("count", 0), ("count", units), ("text", value)]


SUFFIXES = {
    Suffix.NONE: 0x00,
    Suffix.JOURNAL: 0x81,
    Suffix.DEADLETTER: 0x82,
    Suffix.DEADXACT: 0x83,
    Suffix.XACTONLY: 0x04,
}


def queue_format(name: str) -> Iterator[Item]:
    """Yield the items of a QUEUE_FORMAT as [MS-MQMQ] 2.2.7 lays them out."""
    parsed: Any = parse_single(name) if name else None
    kind = parsed.kind if parsed else FormatType.UNKNOWN
    suffix = 5 if kind == FormatType.SUBQUEUE else SUFFIXES[getattr(parsed, "suffix", Suffix.NONE)]
    yield from [("union", None), ("B", kind), ("B", suffix), ("H", 0)]
    yield from [("union", None), ("B", kind), ("union", None)]
    if kind in (FormatType.PUBLIC, FormatType.MACHINE, FormatType.CONNECTOR):
        yield "guid", UUID(name.partition("=")[2].partition(";")[0])
    elif kind == FormatType.PRIVATE:
        yield from [("guid", parsed.computer), ("I", parsed.number), ("union", None)]
    elif isinstance(parsed, DirectName):
        yield from [("pointer", 0x20004), *_text(name.removeprefix("DIRECT="))]
    elif kind == FormatType.DISTRIBUTION_LIST:
        yield from [("guid", parsed.identifier), ("pointer", 0x20004 if parsed.domain else 0)]
        yield from _text(parsed.domain) if parsed.domain else []
    elif kind == FormatType.MULTICAST:
        yield from [("I", int.from_bytes(parsed.address.packed, "little")), ("I", parsed.port)]


def request_items(request: Request) -> Iterator[Item]:
    """Yield the parameters of a request, [MS-MQQP] 3.1.4 and [MS-MQMP] 3.1.4."""
    match request:
        case qm2qm.StartReceive(read):
            yield from descriptor(read, 0x20000)
        case qm2qm.EndReceive(identifier, acknowledge):
            yield from [*handle(identifier), ("I", acknowledge)]
        case qm2qm.OpenQueue(client, level, queue, again, context):
            yield from [("guid", client), ("I", level), ("I", queue), ("I", again), ("I", context)]
        case qm2qm.CloseQueue(identifier) | qmcomm.CloseRemoteQueueContext(identifier):
            yield from handle(identifier)
        case qm2qm.CloseCursor(queue, cursor):
            yield from [("I", queue), ("I", cursor)]
        case qm2qm.CancelReceive(queue, again, number):
            yield from [("I", queue), ("I", again), ("I", number)]
        case qm2qm.PurgeQueue(number) | qm2qm.GetServerPort(number) | qmcomm.GetServerPort(number):
            yield "I", number
        case qm2qm.StartReceive2(read2, sequential):
            yield from descriptor2(read2, sequential)
        case qm2qm.StartReceiveByLookupId(lookup_id, read2, sequential):
            yield from [("Q", lookup_id), *descriptor2(read2, sequential)]
        case qmcomm.OpenRemoteQueue(name):
            yield "pointer", 0 if name is None else 0x20000
            yield from queue_format(name) if name is not None else []
            yield from [("I", request.process), ("I", request.access), ("I", request.share)]
            yield from [("guid", request.client), ("I", request.level)]
        case qmcomm.CreateRemoteCursor(queue):
            yield from [("I", 0), ("union", None), ("I", 0), ("union", None)]
            yield from [*transfer_buffer(), ("I", queue)]
        case _:
            assert isinstance(request, qm2qm.GetVersion), request  # it has no parameters


def transfer_buffer() -> Iterator[Item]:
    """Yield the members of CACTransferBufferV1 behind the tag; P is a pointer, the others are numbers."""
    send, members = "PP", "PPPPPPPPPPPIIPPIPIPIPPPPPPIPPPPIPPIPPiPIPBBHPIPPPPIPPPP"
    for letter in send + members:
        yield "pointer" if letter == "P" else letter, 0


def response_items(response: Response) -> Iterator[Item]:
    """Yield what a method returns, its status last."""
    match response:
        case qm2qm.ReadStarted(identifier, read, status):
            yield from [*handle(identifier), *descriptor(read, 0x20000), ("I", status)]
        case qm2qm.ReadStarted2(identifier, read2, sequential, status):
            yield from [*handle(identifier), *descriptor2(read2, sequential), ("I", status)]
        case qm2qm.HandleReturned(identifier, status):
            yield from [*handle(identifier), ("I", status)]
        case qm2qm.StatusReturned(number) | qm2qm.PortReturned(number):
            yield "I", number
        case qm2qm.VersionReturned(major, minor, build):
            yield from [("B", major), ("B", minor), ("H", build)]
        case qmcomm.RemoteQueueOpened(identifier, context, again, queue, status):
            yield from [*handle(identifier), ("I", context), ("I", again), ("I", queue), ("I", status)]
        case qmcomm.ContextClosed(identifier):
            yield from handle(identifier)
        case qmcomm.CursorCreated(cursor, status):
            yield from [("I", cursor), ("I", status)]
        case _:
            raise AssertionError(response)

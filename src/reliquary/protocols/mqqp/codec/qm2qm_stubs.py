"""Reads and writes the stubs of qm2qm, [MS-MQQP] 3.1.4, for each request and each response.

A parameter out of its range is an NdrFault, as the strict check demands (QP-013); values that the method
itself refuses are read here as they are.  A request has no bytes for hBind and for what is only returned.
"""

from __future__ import annotations

from typing import Final

from reliquary.protocols.mqqp.codec.descriptors import (
    read_descriptor,
    read_descriptor2,
    write_descriptor,
    write_descriptor2,
)
from reliquary.protocols.mqqp.codec.methods import Answer, Method, read_in_range
from reliquary.protocols.mqqp.codec.qm2qm import (
    Acknowledge,
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
    ReadStarted,
    ReadStarted2,
    Response,
    StartReceive,
    StartReceive2,
    StartReceiveByLookupId,
    StatusReturned,
    VersionReturned,
)
from reliquary.wire.ndr.reader import NdrReader
from reliquary.wire.ndr.writer import NdrWriter

LEVEL_LIMIT: Final = 16
"""The largest value of dwMQS that is accepted."""

# -- requests, in the order of the opnums


def _read_start(reader: NdrReader) -> StartReceive:
    return StartReceive(read_descriptor(reader))


def _write_start(writer: NdrWriter, request: StartReceive) -> None:
    write_descriptor(writer, request.read)


def _read_end(reader: NdrReader) -> EndReceive:
    handle = reader.handle()
    return EndReceive(handle, Acknowledge(read_in_range(reader, "dwAck", 1, 2)))  # QP-072


def _write_end(writer: NdrWriter, request: EndReceive) -> None:
    writer.handle(request.handle)
    writer.u32(request.acknowledge)


def _read_open(reader: NdrReader) -> OpenQueue:
    client = reader.guid()
    level = read_in_range(reader, "dwMQS", 0, LEVEL_LIMIT)  # QP-088
    return OpenQueue(client, level, reader.u32(), reader.u32(), reader.u32())


def _write_open(writer: NdrWriter, request: OpenQueue) -> None:
    writer.guid(request.client)
    for number in (request.level, request.queue, request.queue_again, request.context):
        writer.u32(number)


def _read_close(reader: NdrReader) -> CloseQueue:
    return CloseQueue(reader.handle())


def _write_close(writer: NdrWriter, request: CloseQueue) -> None:
    writer.handle(request.handle)


def _read_close_cursor(reader: NdrReader) -> CloseCursor:
    return CloseCursor(reader.u32(), reader.u32())


def _write_close_cursor(writer: NdrWriter, request: CloseCursor) -> None:
    writer.u32(request.queue)
    writer.u32(request.cursor)


def _read_cancel(reader: NdrReader) -> CancelReceive:
    return CancelReceive(reader.u32(), reader.u32(), reader.u32())


def _write_cancel(writer: NdrWriter, request: CancelReceive) -> None:
    for number in (request.queue, request.queue_again, request.request):
        writer.u32(number)


def _read_purge(reader: NdrReader) -> PurgeQueue:
    return PurgeQueue(reader.u32())


def _write_purge(writer: NdrWriter, request: PurgeQueue) -> None:
    writer.u32(request.queue)


def _read_port(reader: NdrReader) -> GetServerPort:
    # DEPARTS from 3.1.4.8 (QP-116): a type above 3 is a fault, because the IDL has range(0,3).
    return GetServerPort(PortKind(read_in_range(reader, "dwPortType", 0, 3)))  # QP-115


def _write_port(writer: NdrWriter, request: GetServerPort) -> None:
    writer.u32(request.kind)


def _read_version(reader: NdrReader) -> GetVersion:
    return GetVersion()


def _write_version(writer: NdrWriter, request: GetVersion) -> None:
    """Write nothing, since all parameters are returned."""


def _read_start2(reader: NdrReader) -> StartReceive2:
    return StartReceive2(*read_descriptor2(reader))


def _write_start2(writer: NdrWriter, request: StartReceive2) -> None:
    write_descriptor2(writer, request.read, request.sequential)


def _read_lookup(reader: NdrReader) -> StartReceiveByLookupId:
    return StartReceiveByLookupId(reader.u64(), *read_descriptor2(reader))


def _write_lookup(writer: NdrWriter, request: StartReceiveByLookupId) -> None:
    writer.u64(request.lookup_id)
    write_descriptor2(writer, request.read, request.sequential)


METHODS: Final[dict[int, Method]] = {
    0: Method(StartReceive, _read_start, _write_start, ReadStarted),
    1: Method(EndReceive, _read_end, _write_end, HandleReturned),
    2: Method(OpenQueue, _read_open, _write_open, HandleReturned),
    3: Method(CloseQueue, _read_close, _write_close, HandleReturned),
    4: Method(CloseCursor, _read_close_cursor, _write_close_cursor, StatusReturned),
    5: Method(CancelReceive, _read_cancel, _write_cancel, StatusReturned),
    6: Method(PurgeQueue, _read_purge, _write_purge, StatusReturned),
    7: Method(GetServerPort, _read_port, _write_port, PortReturned),
    8: Method(GetVersion, _read_version, _write_version, VersionReturned),
    9: Method(StartReceive2, _read_start2, _write_start2, ReadStarted2),
    10: Method(StartReceiveByLookupId, _read_lookup, _write_lookup, ReadStarted2),
}
"""The methods by their operation numbers."""

# -- responses


def _read_started(reader: NdrReader) -> ReadStarted:
    return ReadStarted(reader.handle(), read_descriptor(reader), reader.u32())


def _write_started(writer: NdrWriter, response: ReadStarted) -> None:
    writer.handle(response.handle)
    write_descriptor(writer, response.read)
    writer.u32(response.status)


def _read_started2(reader: NdrReader) -> ReadStarted2:
    return ReadStarted2(reader.handle(), *read_descriptor2(reader), reader.u32())


def _write_started2(writer: NdrWriter, response: ReadStarted2) -> None:
    writer.handle(response.handle)
    write_descriptor2(writer, response.read, response.sequential)
    writer.u32(response.status)


def _read_handle(reader: NdrReader) -> HandleReturned:
    return HandleReturned(reader.handle(), reader.u32())


def _write_handle(writer: NdrWriter, response: HandleReturned) -> None:
    writer.handle(response.handle)
    writer.u32(response.status)


def _read_status(reader: NdrReader) -> StatusReturned:
    return StatusReturned(reader.u32())


def _write_status(writer: NdrWriter, response: StatusReturned) -> None:
    writer.u32(response.status)


def _read_port_number(reader: NdrReader) -> PortReturned:
    return PortReturned(reader.u32())


def _write_port_number(writer: NdrWriter, response: PortReturned) -> None:
    writer.u32(response.port)


def _read_numbers(reader: NdrReader) -> VersionReturned:
    return VersionReturned(reader.u8(), reader.u8(), reader.u16())


def _write_numbers(writer: NdrWriter, response: VersionReturned) -> None:
    writer.u8(response.major)
    writer.u8(response.minor)
    writer.u16(response.build)


ANSWERS: Final[dict[type[Response], Answer]] = {
    ReadStarted: Answer(_read_started, _write_started),
    ReadStarted2: Answer(_read_started2, _write_started2),
    HandleReturned: Answer(_read_handle, _write_handle),
    StatusReturned: Answer(_read_status, _write_status),
    PortReturned: Answer(_read_port_number, _write_port_number),
    VersionReturned: Answer(_read_numbers, _write_numbers),
}

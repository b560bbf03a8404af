"""Reads and writes the stubs of qmcomm for remote reads, [MS-MQMP] 3.1.4.2 to .4 and 3.1.4.24."""

from __future__ import annotations

from typing import Final

from reliquary.protocols.mqqp.codec.formats import read_format, write_format
from reliquary.protocols.mqqp.codec.methods import Answer, Method
from reliquary.protocols.mqqp.codec.qm2qm import PortReturned, Response
from reliquary.protocols.mqqp.codec.qmcomm import (
    CloseRemoteQueueContext,
    ContextClosed,
    CreateRemoteCursor,
    CursorCreated,
    GetServerPort,
    OpenRemoteQueue,
    RemoteQueueOpened,
)
from reliquary.protocols.mqqp.codec.transfer_buffer import skip_transfer_buffer, write_transfer_buffer
from reliquary.wire.ndr.reader import NdrReader
from reliquary.wire.ndr.writer import NdrWriter

_FORMAT_REFERENT: Final = 0x00020000
"""The pointer to the QUEUE_FORMAT; any number except 0 is allowed."""

# -- requests


def _read_open(reader: NdrReader) -> OpenRemoteQueue:
    name = read_format(reader) if reader.pointer() else None
    process, access, share = reader.u32(), reader.u32(), reader.u32()
    return OpenRemoteQueue(
        name=name, process=process, access=access, share=share, client=reader.guid(), level=reader.u32()
    )


def _write_open(writer: NdrWriter, request: OpenRemoteQueue) -> None:
    writer.pointer(0 if request.name is None else _FORMAT_REFERENT)
    if request.name is not None:
        write_format(writer, request.name)
    for number in (request.process, request.access, request.share):
        writer.u32(number)
    writer.guid(request.client)
    writer.u32(request.level)


def _read_close(reader: NdrReader) -> CloseRemoteQueueContext:
    return CloseRemoteQueueContext(reader.handle())


def _write_close(writer: NdrWriter, request: CloseRemoteQueueContext) -> None:
    writer.handle(request.handle)


def _read_cursor(reader: NdrReader) -> CreateRemoteCursor:
    skip_transfer_buffer(reader)
    return CreateRemoteCursor(reader.u32())


def _write_cursor(writer: NdrWriter, request: CreateRemoteCursor) -> None:
    write_transfer_buffer(writer)
    writer.u32(request.queue)


def _read_port(reader: NdrReader) -> GetServerPort:
    return GetServerPort(reader.u32())


def _write_port(writer: NdrWriter, request: GetServerPort) -> None:
    writer.u32(request.kind)


METHODS: Final[dict[int, Method]] = {
    2: Method(OpenRemoteQueue, _read_open, _write_open, RemoteQueueOpened),
    3: Method(CloseRemoteQueueContext, _read_close, _write_close, ContextClosed),
    4: Method(CreateRemoteCursor, _read_cursor, _write_cursor, CursorCreated),
    31: Method(GetServerPort, _read_port, _write_port, PortReturned),
}
"""The methods by opnum; a call of any other method is refused."""

# -- responses


def _read_opened(reader: NdrReader) -> RemoteQueueOpened:
    return RemoteQueueOpened(reader.handle(), reader.u32(), reader.u32(), reader.u32(), reader.u32())


def _write_opened(writer: NdrWriter, response: RemoteQueueOpened) -> None:
    writer.handle(response.handle)
    for number in (response.context, response.queue_again, response.queue, response.status):
        writer.u32(number)


def _read_closed(reader: NdrReader) -> ContextClosed:
    return ContextClosed(reader.handle())


def _write_closed(writer: NdrWriter, response: ContextClosed) -> None:
    writer.handle(response.handle)


def _read_created(reader: NdrReader) -> CursorCreated:
    return CursorCreated(reader.u32(), reader.u32())


def _write_created(writer: NdrWriter, response: CursorCreated) -> None:
    writer.u32(response.cursor)
    writer.u32(response.status)


ANSWERS: Final[dict[type[Response], Answer]] = {
    RemoteQueueOpened: Answer(_read_opened, _write_opened),
    ContextClosed: Answer(_read_closed, _write_closed),
    CursorCreated: Answer(_read_created, _write_created),
}

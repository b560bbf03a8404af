"""The load of the MQQP benchmark, in a process of its own: readers with a connection and one call each.

Reads one JSON line of settings, runs, writes one JSON line of figures.  PDUs are packed by hand, and of a
response only its length, the handle and the status are looked at, so that the server is what is measured.
The load can also be held receives and their acknowledgements through the JSON API, as a reference.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from time import perf_counter, process_time
from typing import cast
from uuid import UUID

import msgspec
import uvloop

from bench.connection import Connection
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.stubs import decode_response, encode_request, opnum_of
from reliquary.wire.ndr.encoding import NDR20
from reliquary.wire.rpc.syntaxes import NDR20_SYNTAX, QM2QM, QMCOMM, SyntaxId

FRAGMENT = 65528
"""The largest fragments that we offer to read; a server may choose smaller ones."""
_HEAD = struct.Struct("<BBBB4sHHI")
_CALL = struct.Struct("<IHH")
_SIZES = struct.Struct("<HHI")
_LENGTH = struct.Struct("<H")
_STATUS = struct.Struct("<I")
_LITTLE = b"\x10\0\0\0"
_REQUEST, _RESPONSE, _BIND, _BIND_ACK = 0, 2, 11, 12
_LAST = 2
_STUB = 24
"""Bytes of a response before its stub."""
_HANDLE = slice(4, 20)
_ACTION = qm2qm.Action.RECEIVE
_CONTEXTS = {QMCOMM: 0, QM2QM: 1}


class Settings(msgspec.Struct):
    """The settings of one run."""

    host: str
    port: int
    queue: str
    protocol: str
    """The protocol of the run: `mqqp` or `api`."""
    readers: int
    messages: int
    """How many are in the queue; all of them are read."""
    core: int | None = None


class RpcConnection(asyncio.Protocol):
    """One call at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._came = bytearray()
        self._stub: list[bytes] = []
        self._answer: asyncio.Future[bytes] | None = None
        self._loop = asyncio.get_running_loop()
        self._call = 0

    @classmethod
    async def open(cls, host: str, port: int) -> RpcConnection:
        """Connect, and bind both interfaces."""
        _, connection = await asyncio.get_running_loop().create_connection(cls, host, port)
        elements = b"".join(
            struct.pack("<HBB", number, 1, 0) + _syntax(interface) + _syntax(NDR20_SYNTAX)
            for interface, number in _CONTEXTS.items()
        )
        body = _SIZES.pack(FRAGMENT, FRAGMENT, 0) + struct.pack("<BBH", len(_CONTEXTS), 0, 0) + elements
        await connection._send(_BIND, body)
        return connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of the new connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Collect fragments until the last one is there."""
        self._came += data
        while len(self._came) >= _HEAD.size:
            (length,) = _LENGTH.unpack_from(self._came, 8)
            if len(self._came) < length:
                return
            kind, flags = self._came[2], self._came[3]
            assert kind in (_RESPONSE, _BIND_ACK), f"the server answered with PDU type {kind}: {self._came!r}"
            self._stub.append(bytes(memoryview(self._came)[_STUB:length]))
            del self._came[:length]
            if flags & _LAST:
                assert self._answer is not None, "the server sent an answer while no call was open"
                whole = self._stub[0] if len(self._stub) == 1 else b"".join(self._stub)
                self._stub.clear()
                self._answer.set_result(whole)

    def connection_lost(self, why: Exception | None) -> None:
        """Let the caller know that nothing will come."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(why or ConnectionError("the server closed the connection"))

    def call(self, interface: SyntaxId, opnum: int, stub: bytes) -> asyncio.Future[bytes]:
        """Send a request; the future is the stub of its response."""
        return self._send(_REQUEST, _CALL.pack(len(stub), _CONTEXTS[interface], opnum) + stub)

    def ask(self, interface: SyntaxId, request: qm2qm.Request) -> asyncio.Future[bytes]:
        """Send a request that is encoded here."""
        return self.call(interface, opnum_of(request), encode_request(request, NDR20))

    def _send(self, kind: int, body: bytes) -> asyncio.Future[bytes]:
        self._call += 1
        assert self._transport is not None, "the connection is not open"
        self._answer = self._loop.create_future()
        size = _HEAD.size + len(body)
        self._transport.write(_HEAD.pack(5, 0, kind, 3, _LITTLE, size, 0, self._call) + body)
        return self._answer


def _syntax(each: SyntaxId) -> bytes:
    return each.uuid.bytes_le + struct.pack("<HH", each.major, each.minor)


class Readers:
    """Readers of one queue, until it is empty."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.read = self.bytes = 0

    async def run(self) -> float:
        """Read all; return the seconds that it took."""
        host, port, count = self._settings.host, self._settings.port, self._settings.readers
        if self._settings.protocol == "api":
            plain = [await Connection.open(host, port) for _ in range(count)]
            work = [self._api_reader(connection) for connection in plain]
        else:
            work = [self._reader(*await self._open()) for _ in range(count)]
        start = perf_counter()
        await asyncio.gather(*work)
        return perf_counter() - start

    async def _open(self) -> tuple[RpcConnection, int]:
        """Open the queue over a connection of its own; return the number of the queue too."""
        connection = await RpcConnection.open(self._settings.host, self._settings.port)
        name = f"DIRECT=OS:localhost\\private$\\{self._settings.queue}"
        wanted = qmcomm.OpenRemoteQueue(name, 1, 0, UUID(int=1))
        opened = decode_response(wanted, await connection.ask(QMCOMM, wanted), NDR20)
        assert isinstance(opened, qmcomm.RemoteQueueOpened), f"{opened}"
        assert opened.status == 0, f"the queue cannot be opened: {opened.status:#x}"
        number = opened.queue
        await connection.ask(QM2QM, qm2qm.OpenQueue(UUID(int=1), 0, number, number, number))
        return connection, number

    async def _reader(self, connection: RpcConnection, number: int) -> None:
        read = qm2qm.ReadDescriptor(number, _ACTION, 0, 1, queue_again=number)
        start = encode_request(qm2qm.StartReceive(read), NDR20)
        end = b"\0\0\0\0%b" + _STATUS.pack(qm2qm.Acknowledge.ACK)
        while True:
            stub = await connection.call(QM2QM, 0, start)
            if _STATUS.unpack_from(stub, len(stub) - 4)[0]:
                return
            done = await connection.call(QM2QM, 1, end % stub[_HANDLE])
            assert done[-4:] == b"\0\0\0\0", f"a message was not removed: {done!r}"
            self.read += 1
            self.bytes += len(stub)

    async def _api_reader(self, connection: Connection) -> None:
        path = f"/api/v1/queues/private$%2F{self._settings.queue}/receive"
        while True:
            found = json.loads(await connection.request(path, b'{"hold": 60}'))
            if not found["messages"]:
                return
            await connection.request(f"/api/v1/receipts/{found['receipt']}", b"{}")
            self.read += 1


async def run(settings: Settings) -> dict[str, float]:
    """Read all messages of the queue."""
    readers = Readers(settings)
    spent = process_time()
    elapsed = await readers.run()
    assert readers.read == settings.messages, f"{readers.read} of {settings.messages} were read"
    spent = process_time() - spent
    return {"messages": readers.read, "bytes": readers.bytes, "elapsed": elapsed, "load_cpu": spent}


def main() -> None:
    """One run with the settings of the first line."""
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    if settings.core is not None:
        os.sched_setaffinity(0, {settings.core})
    print(json.dumps(uvloop.run(run(settings))))


if __name__ == "__main__":
    main()

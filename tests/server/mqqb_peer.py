"""A plain peer of MQQB on a real socket: it writes bytes by hand and reads them with the second decoder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.protocols.mqqb.codec import second_decoder
from tests.protocols.mqqb.codec.frames import COMPOSED

REQUEST, PARAMETERS = COMPOSED["V1"], COMPOSED["V4"]


class PlainPeer:
    """One connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._bytes = b""
        self._packets: list[bytes] = []

    def send(self, *packets: bytes) -> None:
        self._writer.write(b"".join(packets))

    async def raw(self) -> bytes:
        """Return the next packet; b"" when the server has closed the connection."""
        while not self._packets:
            try:
                more = await asyncio.wait_for(self._reader.read(65536), 20)
            except ConnectionError:
                return b""
            if not more:
                return b""
            self._packets, self._bytes = second_decoder.split(self._bytes + more)
        return self._packets.pop(0)

    async def hear(self) -> dict[str, Any] | None:
        """Return the fields of the next packet; None when the server has closed the connection."""
        data = await self.raw()
        return second_decoder.packet(data) if data else None

    async def open(self, window: int = 64, ack_timeout: int = 20_000) -> None:
        """Make the handshake, up to the open session; `ack_timeout` is in milliseconds."""
        self.send(REQUEST)
        answer = await self.hear()
        assert answer is not None
        assert (answer["kind"], answer["CS"]) == ("EstablishConnection", False)
        timeouts = PARAMETERS[20:24] + ack_timeout.to_bytes(4, "little") + PARAMETERS[28:30]
        self.send(PARAMETERS[:20] + timeouts + window.to_bytes(2, "little"))
        answer = await self.hear()
        assert answer is not None
        assert answer["kind"] == "ConnectionParameters"

    async def is_closed(self) -> bool:
        """Return whether the server closes the connection without a further packet."""
        return await self.raw() == b""

    def close(self) -> None:
        self._writer.close()


async def connect_peer(port: int, host: str = "127.0.0.1") -> PlainPeer:
    """Return a peer that the test closes."""
    return PlainPeer(*await asyncio.open_connection(host, port))


@asynccontextmanager
async def peer_of(port: int, host: str = "127.0.0.1") -> AsyncIterator[PlainPeer]:
    peer = await connect_peer(port, host)
    try:
        yield peer
    finally:
        peer.close()


def message_to(queue: str, body: bytes, *, number: int = 1, recoverable: bool = False) -> bytes:
    """Return a message outside transactions to a direct name, byte by byte."""
    name = (queue + "\0").encode("utf-16-le")
    field = len(name).to_bytes(2, "little") + name
    field += bytes(-len(field) % 4)
    flags = 0x00201C00 | (0x20 if recoverable else 0)
    user = COMPOSED["V1"][20:36] + bytes(16) + b"\xff" * 4 + bytes(4)
    user += number.to_bytes(4, "little") + flags.to_bytes(4, "little")
    properties = bytes(32) + 2 * len(body).to_bytes(4, "little") + bytes(4)
    properties += bytes.fromhex("04800000 01680000 00000000") + body
    properties += bytes(-len(properties) % 4)
    whole = user + field + properties
    size = (16 + len(whole)).to_bytes(4, "little")
    return bytes.fromhex("10000300") + b"LIOR" + size + b"\xff" * 4 + whole

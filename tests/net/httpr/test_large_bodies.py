"""Tests large bodies over a pipeline, in both directions: never much of them is in memory."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.httpr.bodies import Stored
from reliquary.protocols.httpr.codec.reader import PIECE
from reliquary.protocols.httpr.events import Failure, RequestFailed, ResponseArrived
from reliquary.queueing.model.events import PieceStored
from reliquary.queueing.model.message import Message, StoredBody
from tests.net.http.harness import play, tick, until
from tests.net.httpr.harness import (
    Behaviour,
    BodyStore,
    CourierBench,
    Server,
    answering,
    committed,
    courier_bench,
    http,
    pulled,
    serving,
    silent,
)

PATTERN = bytes(range(256)) * (PIECE // 256)


class Endless(BodyStore):
    """Makes pieces up when they are read, and forgets those that are stored."""

    def __init__(self, missing: int = -1) -> None:
        super().__init__()
        self.missing = missing
        self.stored_bytes = 0
        self.wrong = 0

    def read(self, spool: int, index: int) -> bytes:
        if index == self.missing:
            raise UsageError("the piece is gone")
        return PATTERN

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        self.stored_bytes += len(data)
        self.wrong += data != PATTERN
        super().store(spool, b"", stored)


def large(size: int) -> Message:
    return Message.of(carrier_header="app-x:1\r\n", stored_body=StoredBody(1, size, size // PIECE))


async def count(reader: asyncio.StreamReader) -> int:
    """Read a chunked request away; how many bytes its body had."""
    await reader.readuntil(b"\r\n\r\n")
    total = 0
    while size := int(await reader.readuntil(b"\r\n"), 16):
        left = size + 2
        while left:
            data = await reader.read(min(left, 1 << 16))
            assert data, "the request was cut off"
            left -= len(data)
        total += size
    await reader.readexactly(2)
    return total


def peak_of(scene: Callable[[], None]) -> int:
    """Return the most bytes that were held at once while a scene was played."""
    tracemalloc.start()
    try:
        scene()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def sizes(*params: int) -> list[object]:
    """Return a size for every day, and one for the long tier."""
    return [params[0], *(pytest.param(size, marks=pytest.mark.long) for size in params[1:])]


MB = 1024 * 1024


@pytest.mark.parametrize("size", sizes(20 * MB, 100 * MB))
def test_a_large_body_goes_out_without_ever_being_in_memory(size: int) -> None:
    got: list[int] = []

    async def behave(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await count(reader))
        writer.write(http(committed(1)))
        await server.read(reader)
        writer.write(http(committed(2)))
        await reader.read()

    async def scene() -> None:
        async with serving(behave) as there, courier_bench(there, body_store=Endless()) as here:
            here.push(1, messages=(large(size),))
            here.push(2)
            await here.wait_for(2)
            assert here.ends == [(1, 1), (2, 2)]
            assert b"body 2" in there.bodies[0]

    peak = peak_of(lambda: play(scene))
    assert min(got) > size
    assert peak < 12 * MB


@pytest.mark.parametrize("size", sizes(20 * MB, 100 * MB))
def test_a_large_body_comes_in_without_ever_being_in_memory(size: int) -> None:
    async def behave(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        start, end = pulled(7, last=b""), b"\r\npayload-disposition:last\r\n"
        start += b"message-size:%d\r\napp-x:1\r\n\r\n" % size
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (len(start) + size + len(end)))
        writer.write(start)
        for _ in range(size // PIECE):
            writer.write(PATTERN)
            await writer.drain()
        writer.write(end)
        await reader.read()

    async def scene() -> None:
        body_store = Endless()
        async with serving(behave) as there, courier_bench(there, body_store=body_store) as here:
            here.pull()
            await here.wait_for(1)
            (reported,) = here.reported
            assert isinstance(reported, ResponseArrived), reported
            (carried,) = reported.batch
            assert carried.stored is not None
            assert carried.stored.pieces == size // PIECE
            assert (body_store.stored_bytes, body_store.wrong, body_store.most_due) == (size, 0, 1)
            assert body_store.dropped == []

    assert peak_of(lambda: play(scene)) < 12 * MB


def test_reading_waits_while_a_piece_is_stored_and_what_follows_is_reported_in_its_order() -> None:
    async def scene() -> None:
        data = PATTERN * 40
        both = http(pulled(7, data)) + http(committed(2))
        body_store = BodyStore(at_once=False)

        async def behave(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.read(reader)
            await server.read(reader)
            writer.write(both)
            await reader.read()

        async with serving(behave) as there, courier_bench(there, body_store=body_store) as here:
            here.pull(1)
            here.push(2)
            for stored in range(40):
                await until(lambda: bool(body_store.due))
                await tick(5)
                assert here.reported == []
                assert here.courier.pipelines[1]._unanswered[0].body_bytes < (stored + 4) * PIECE
                assert len(body_store.due) == 1
                body_store.settle()
            await here.wait_for(2)
            assert [each.number for each in here.reported] == [1, 2]
            assert b"".join(body_store.bodies[1]) == data

    play(scene)


def test_a_piece_that_is_gone_in_the_middle_cuts_the_request_off() -> None:
    ends: list[bytes] = []

    async def behave(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del server
        rest = b""
        while data := await reader.read(1 << 16):
            rest = (rest + data)[-100:]
        ends.append(rest)
        writer.close()

    async def scene() -> None:
        async with serving(behave) as there, courier_bench(there, body_store=Endless(missing=5)) as here:
            here.push(1, messages=(large(8 * PIECE),))
            here.push(2)
            await here.wait_for(1)
            await until(lambda: there.gone == 1)
            assert here.ends == [(1, Failure.LOST)]
            assert isinstance(here.reported[0], RequestFailed)
            assert here.reported[0].why.endswith("the piece is gone")
            assert b"payload-disposition" not in ends[-1]
            assert not ends[-1].endswith(b"0\r\n\r\n")

    play(scene)


class TestEarlyAnswer:
    """A server need not read all of a request before it answers."""

    REFUSED = b"session:end\r\nerror:521 MAXIMUM-MESSAGE-SIZE-EXCEEDED\r\n\r\n"

    def behave(self, *more: bytes) -> Behaviour:
        async def behave(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            del server
            await reader.readuntil(b"\r\n\r\n")
            writer.write(http(self.REFUSED, *more))
            await writer.drain()
            while await reader.read(1 << 16):
                pass

        return behave

    @pytest.mark.parametrize("closes", [False, True])
    def test_the_answer_is_reported(self, closes: bool) -> None:
        async def scene() -> None:
            first = self.behave(*([b"connection: close"] if closes else []))
            async with (
                serving(first, answering()) as there,
                courier_bench(there, body_store=Endless()) as here,
            ):
                here.push(1, messages=(large(40 * MB),))
                await here.wait_for(1)
                reported = here.reported[0]
                assert isinstance(reported, ResponseArrived)
                assert reported.header.error is not None
                assert reported.header.error.number == 521
                if closes:
                    await until(lambda: here.courier.connections == 0)
                    here.push(2)
                    await here.wait_for(2)
                    assert here.ends[1] == (2, 1)

        play(scene)


class TestDying:
    """Whatever ends an epoch, nothing of a half response stays."""

    @staticmethod
    async def half(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.read(reader)
        writer.write(http(pulled(7, PATTERN * 8))[: PIECE * 6])
        await writer.drain()
        await server.read(reader)

    async def begun(self, here: CourierBench, body_store: BodyStore) -> None:
        here.pull(1)
        await until(lambda: bool(body_store.bodies.get(1)) and len(body_store.bodies[1]) >= 3)

    def test_the_server_hangs_up(self) -> None:
        async def scene() -> None:
            body_store = BodyStore()
            async with serving(self.half) as there, courier_bench(there, body_store=body_store) as here:
                await self.begun(here, body_store)
                here.push(2)
                await here.wait_for(1)
                assert here.ends == [(1, Failure.LOST)]
                await until(lambda: not body_store.due and not body_store.bodies)
                assert body_store.dropped == [1]

        play(scene)

    def test_a_new_epoch_begins(self) -> None:
        async def scene() -> None:
            body_store = BodyStore()
            async with (
                serving(self.half, answering()) as there,
                courier_bench(there, body_store=body_store) as here,
            ):
                await self.begun(here, body_store)
                here.push(1, epoch=2)
                await here.wait_for(1)
                assert [(each.epoch, each.number) for each in here.reported] == [(2, 1)]
                await until(lambda: not body_store.due and not body_store.bodies)

        play(scene)

    def test_a_large_request_is_given_up_in_the_middle(self) -> None:
        async def scene() -> None:
            body_store = Endless()
            async with (
                serving(silent(0), answering()) as there,
                courier_bench(there, body_store=body_store) as here,
            ):
                here.push(1, messages=(large(20 * MB),))
                await until(lambda: here.courier.bytes_sent > MB)
                here.push(1, epoch=2)
                await here.wait_for(1)
                assert [(each.epoch, each.number) for each in here.reported] == [(2, 1)]

        play(scene)


def test_the_body_store_of_the_harness_counts_as_the_real_one_does() -> None:
    body_store = BodyStore(at_once=False)
    reported: list[object] = []
    body_store.store(0, b"ab", reported.append)
    body_store.settle()
    body_store.store(1, b"c", reported.append)
    body_store.settle()
    stored = [each for each in reported if isinstance(each, PieceStored)]
    assert [(each.spool, each.pieces, each.size) for each in stored] == [(1, 1, 2), (1, 2, 3)]

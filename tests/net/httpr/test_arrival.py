"""Tests one request while it comes: large messages go to disk bit by bit, what is not wanted goes away."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reliquary.base.turn import Event
from reliquary.net.http import Responder
from reliquary.net.httpr.bodies import Stored
from reliquary.net.httpr.receiving import Receiving
from reliquary.net.identity.admission import Admission
from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.events import RequestArrived, RequestBegun
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import State as HttprState
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import TABLES
from reliquary.queueing.rules.spool import read_piece
from reliquary.store import MemoryDisk, StagedRows
from tests.net.endpoint_harness import Chance
from tests.net.http.harness import Wire, connect, echo, play, post, until, wire
from tests.net.httpr.served_agent import H3_HEADER, PULL, ServedAgent, served_agent

MIB = 1024 * 1024
LAST = b"payload-disposition:last\r\n"
HEAD = b"POST /httpr/orders HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"


def sized(size: int) -> Iterator[bytes]:
    """Yield a message by its size, a chunk of HTTP at a time."""
    yield b"message-size:%d\r\napp-x:sized\r\n\r\n" % size
    yield from data(size)
    yield b"\r\n"


def in_chunks(size: int) -> Iterator[bytes]:
    """Yield a message in chunks of its own."""
    yield b"message-encoding:chunked\r\napp-x:chunked\r\n\r\n"
    for part in data(size):
        yield b"%x\r\n" % len(part) + part + b"\r\n"
    yield b"0\r\n\r\n\r\n"


def data(size: int) -> Iterator[bytes]:
    """Yield bytes of which no two parts are equal."""
    for place in range(0, size, 50_000):
        yield (b"%08d" % place * 6250)[: min(50_000, size - place)]


def chunk(part: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(part), part)


async def send(client: Wire, *parts: bytes) -> None:
    for part in parts:
        client.send(chunk(part))
        await client._writer.drain()


def body_of(here: ServedAgent, came: RequestArrived, place: int) -> bytes:
    stored = came.batch[place].stored
    assert stored is not None
    parts = [read_piece(here.state, stored.spool, index) for index in range(stored.pieces)]
    assert sum(map(len, parts)) == stored.size
    return b"".join(parts)


@pytest.mark.spec("HR-114")
@pytest.mark.parametrize("make", [sized, in_chunks], ids=["by its size", "in chunks"])
def test_a_large_message_is_stored_while_it_comes(make: type) -> None:
    async def scene() -> None:
        async with served_agent() as here, wire(here.port) as client:
            client.send(HEAD)
            await send(client, H3_HEADER, *sized(5), *make(3 * MIB + 7), *make(2 * MIB), *sized(6), LAST)
            client.send(chunk(b"")[:3] + b"\r\n")
            assert (await client.read())[0] == 200
            (came,) = here.machine.came
            assert [carried.body for carried in came.batch] == [b"00000", b"", b"", b"000000"]
            assert came.batch[1].header == f"app-x:{'sized' if make is sized else 'chunked'}\r\n"
            assert body_of(here, came, 1) == b"".join(data(3 * MIB + 7))
            assert body_of(here, came, 2) == b"".join(data(2 * MIB))
            assert here.loose == 2

    play(scene)


def test_requests_behind_a_large_one_keep_their_order() -> None:
    async def scene() -> None:
        async with served_agent() as here, wire(here.port) as client:
            body = H3_HEADER + b"".join(sized(2 * MIB)) + LAST
            small = H3_HEADER.replace(b"0001", b"0002") + LAST
            client.send(HEAD + chunk(body) + b"0\r\n\r\n" + HEAD + chunk(small) + b"0\r\n\r\n")
            for _ in range(2):
                assert (await client.read())[0] == 200
            assert [each.header.transaction_id for each in here.machine.came if each.header] == [1, 2]

    play(scene)


def test_memory_holds_a_few_pieces_whatever_the_size() -> None:
    async def scene() -> None:
        async with served_agent() as here, wire(here.port) as client:
            client.send(HEAD)
            await send(client, H3_HEADER, *sized(2 * MIB), b"message-size:%d\r\n\r\n" % (20 * MIB))
            await until(lambda: here.loose == 1)
            spared: list[int] = []
            tracemalloc.start()
            for number, part in enumerate(data(20 * MIB)):
                await send(client, part)
                if number % 40 == 0:
                    kept = sum(body.size for body in here.state.messages.bodies.loose.values())
                    spared.append(tracemalloc.get_traced_memory()[0] - kept)
            assert max(spared) < 4 * MIB
            tracemalloc.stop()
            await send(client, b"\r\n" + LAST)
            client.send(b"0\r\n\r\n")
            assert (await client.read())[0] == 200

    play(scene)


class TestNotWanted:
    def test_what_was_stored_of_a_request_that_is_cut_off_goes_away(self) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                async with wire(here.port) as client:
                    client.send(HEAD)
                    await send(client, H3_HEADER, *sized(2 * MIB), *list(sized(3 * MIB))[:-20])
                    await until(lambda: here.loose == 2)
                await until(lambda: here.loose == 0)
                assert here.machine.came == []

        play(scene)

    def test_what_was_stored_before_a_fault_goes_away(self) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                client.send(HEAD)
                await send(client, H3_HEADER, *sized(2 * MIB), b"nonsense:1\r\n\r\n")
                await client.rest()
                assert here.machine.came[0].fault is ErrorNumber.HTTP_R_PROTOCOL_ERROR
                await until(lambda: here.loose == 0)

        play(scene)

    def test_what_cannot_be_stored_is_515_and_goes_away(self) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                client.send(HEAD)
                await send(client, H3_HEADER, *list(sized(3 * MIB))[:30])
                await until(lambda: here.loose == 1)
                here.state.manager.throttled = True
                await send(client, *list(sized(3 * MIB))[30:])
                await client.rest()
                assert here.machine.came[0].fault is ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE
                assert here.machine.came[0].batch == ()
                await until(lambda: here.loose == 0)

        play(scene)

    def test_a_piece_that_is_on_its_way_when_the_client_goes_is_dropped_when_it_is_there(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                late: list[tuple[int, bytes, Stored]] = []
                dropped: list[int] = []
                bodies = here.receiving.bodies
                store = bodies.store
                with monkeypatch.context() as patched:
                    patched.setattr(Responder, "pause_body", lambda _: None)  # so that its end is seen
                    patched.setattr(bodies, "store", lambda *piece: late.append(piece))
                    patched.setattr(bodies, "drop", dropped.append)
                    client.send(HEAD)
                    await send(client, H3_HEADER, *list(sized(3 * MIB))[:30])
                    await until(lambda: len(late) == 1)
                    client._writer.transport.abort()
                    await until(lambda: here.listener.connections == 0)
                    assert dropped == []
                    store(*late[0])
                    await until(lambda: len(dropped) == 1)
                    assert set(here.state.messages.bodies.loose) == set(dropped)

        play(scene)

    def test_a_request_whose_connection_ends_while_its_last_piece_is_stored_is_not_reported(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                late: list[tuple[int, bytes, Stored]] = []
                bodies = here.receiving.bodies
                store = bodies.store
                with monkeypatch.context() as patched:
                    patched.setattr(Responder, "pause_body", lambda _: None)  # so that its end is seen
                    patched.setattr(bodies, "store", lambda *piece: late.append(piece))
                    client.send(HEAD)
                    await send(client, H3_HEADER, *sized(MIB + 1), LAST)
                    client.send(b"0\r\n\r\n")
                    for _ in range(4):
                        await until(lambda: bool(late))
                        store(*late.pop())
                    await until(lambda: bool(late) and here.listener.connections == 1)
                    (begun,) = here.machine.heard
                    assert isinstance(begun, RequestBegun)
                    here.listener.cut(begun.connection)
                    await until(lambda: here.listener.connections == 0)
                    store(*late.pop())
                await until(lambda: here.loose == 0)
                assert here.machine.kinds() == ["RequestBegun", "ConnectionGone"]

        play(scene)


class Notebook:
    """An engine that notes the events it gets."""

    def __init__(self) -> None:
        self.reported: list[RequestArrived] = []

    def caller(self, answered: object, source: int = 0) -> int:
        del answered, source
        return 7

    def submit(self, event: Event) -> None:
        if isinstance(event, RequestArrived):
            self.reported.append(event)


SMALL = H3_HEADER + b"".join(sized(5)) + LAST


@given(
    st.lists(
        st.sampled_from(
            [
                post("/httpr/orders", SMALL),
                HEAD + chunk(SMALL[:100]) + chunk(SMALL[100:]) + b"0\r\n\r\n",
                post("/httpr/orders", PULL),
                post("/httpr/orders", SMALL.replace(b"message-size", b"mess")),
                post("/httpr/orders", b"hello"),
                post("/other", b"x"),
            ]
        ),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.integers(1, 300), min_size=1, max_size=8),
)
def test_however_requests_are_cut_the_machine_gets_equal_events(
    requests: list[bytes], sizes: list[int]
) -> None:
    def reported(parts: Iterator[bytes]) -> list[RequestArrived]:
        engine, rows = Notebook(), StagedRows(MemoryDisk(TABLES))
        state = State(rows, Chance())
        state.manager.state = ManagerState.READY
        httpr = HttprState(rows, HttprSettings())
        receiving = Receiving(engine, state, httpr, None, Admission())  # type: ignore[arg-type]
        connection, _ = connect(echo, None, receiving.mount())
        for part in parts:
            connection.data_received(part)
        return [replace(event, why="") for event in engine.reported]  # it may say how far one could read

    def cut(sent: bytes) -> Iterator[bytes]:
        place = turn = 0
        while place < len(sent):
            size = sizes[turn % len(sizes)]
            yield sent[place : place + size]
            place, turn = place + size, turn + 1

    sent = b"".join(requests)
    whole = reported(iter([sent]))
    assert len(whole) == sum(b"/httpr/" in request for request in requests)
    assert reported(cut(sent)) == whole

"""Tests of the responder, which sends the response of a request."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from tests.net.http.harness import ManualHandler, bodies, connect, listening, play, post, tick, until, wire


def test_a_request_is_answered_once() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        connection, transport = connect(handler)
        connection.data_received(post())
        handler.answer(0)
        with pytest.raises(UsageError, match="has been answered"):
            handler.answer(0)
        await tick()
        assert bodies(transport.sent) == [(200, b"answer 0")]

    play(scene)


def test_a_response_that_is_slowed_down_leaves_later_and_holds_what_is_behind_it() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        connection, transport = connect(handler)
        connection.data_received(post() + post())
        handler.asked[0][1].slow_down(0.01)
        handler.answer(0)
        handler.answer(1)
        await tick()
        assert not transport.sent
        await until(lambda: transport.sent)
        assert bodies(transport.sent) == [(200, b"answer 0"), (200, b"answer 1")]

    play(scene)


def test_a_client_that_does_not_wait_for_a_slow_response_is_released() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        connection, transport = connect(handler)
        connection.data_received(post())
        handler.asked[0][1].slow_down(3600)
        handler.answer(0)
        connection.eof_received()
        await tick()
        assert connection.is_idle() or transport.closed
        assert not transport.sent

    play(scene)


def test_a_responder_knows_whether_the_client_uses_tls() -> None:
    for tls in (False, True):
        handler = ManualHandler()
        connection, _ = connect(handler, tls=tls)
        connection.data_received(post())
        assert handler.asked[0][1].is_secure is tls


def test_a_waiter_is_notified_once_that_the_client_has_gone() -> None:
    reported: list[str] = []
    handler = ManualHandler()
    connection, _ = connect(handler)
    connection.data_received(post() + post())
    handler.asked[0][1].on_gone(lambda: reported.append("first"))
    handler.asked[1][1].on_gone(lambda: reported.append("second"))
    assert not handler.asked[0][1].gone
    connection.eof_received()
    connection.connection_lost(None)
    assert reported == ["first", "second"]
    assert handler.asked[0][1].gone


def test_a_caller_that_asks_too_late_is_answered_at_once() -> None:
    reported: list[str] = []
    handler = ManualHandler()
    connection, _ = connect(handler)
    connection.data_received(post())
    connection.connection_lost(None)
    handler.asked[0][1].on_gone(lambda: reported.append("gone"))
    assert reported == ["gone"]


def test_a_caller_that_has_its_answer_is_not_notified() -> None:
    async def scene() -> None:
        reported: list[str] = []
        handler = ManualHandler()
        connection, _ = connect(handler)
        connection.data_received(post())
        handler.asked[0][1].on_gone(lambda: reported.append("gone"))
        handler.answer(0)
        connection.connection_lost(None)
        await tick()
        assert reported == []

    play(scene)


def test_an_answer_without_a_caller_is_dropped() -> None:
    handler = ManualHandler()
    connection, transport = connect(handler)
    connection.data_received(post())
    connection.connection_lost(None)
    handler.answer(0)
    assert transport.writes == []


class TestStreamed:
    """Responses that are made while they leave."""

    def test_a_response_leaves_in_chunks_while_it_is_made(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post() + post("/next"))
            way = handler.asked[0][1]
            way.begin(200, b"text/plain", ((b"cache-control", b"no-store"),))
            await tick()
            head, _, rest = transport.sent.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"\r\ntransfer-encoding: chunked\r\n" in head
            assert b"\r\ncache-control: no-store" in head
            assert b"content-length" not in head
            assert rest == b""
            transport.writes.clear()
            way.write(b"hello")
            way.write(b"")
            await tick()
            assert transport.sent == b"5\r\nhello\r\n"
            transport.writes.clear()
            way.write(b"x" * 17)
            way.end()
            handler.answer(1)
            await tick()
            assert transport.sent.startswith(b"11\r\n" + b"x" * 17 + b"\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n")
            assert transport.open

        play(scene)

    def test_a_streamed_response_waits_for_the_answers_before_it_and_the_later_ones_wait(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post() * 3)
            handler.asked[1][1].begin(200, b"text/plain")
            handler.asked[1][1].write(b"early")
            handler.answer(2)
            await tick()
            assert transport.writes == []
            handler.answer(0)
            await tick()
            assert transport.sent.endswith(b"5\r\nearly\r\n")
            assert b"answer 2" not in transport.sent
            handler.asked[1][1].end()
            await tick()
            assert transport.sent.endswith(b"answer 2")

        play(scene)

    @given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.booleans(), min_size=7, max_size=7))
    def test_the_client_reads_what_was_written(self, pieces: list[bytes], ticks: list[bool]) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post())
            handler.asked[0][1].begin(200, b"text/plain")
            for piece, pause in zip(pieces, ticks, strict=False):
                handler.asked[0][1].write(piece)
                if pause:
                    await tick()
            handler.asked[0][1].end()
            await tick()
            assert unchunked(transport.sent.partition(b"\r\n\r\n")[2]) == b"".join(pieces)

        asyncio.run(scene())

    @pytest.mark.parametrize("kept", ["", "Connection: keep-alive\r\n"])
    def test_an_http_1_0_client_gets_the_response_until_the_connection_ends(self, kept: str) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(f"GET / HTTP/1.0\r\n{kept}\r\n".encode() * 2)
            reported: list[str] = []
            if kept:
                handler.asked[1][1].on_gone(lambda: reported.append("gone"))
            handler.asked[0][1].begin(200, b"text/plain")
            handler.asked[0][1].write(b"hello")
            handler.asked[0][1].end()
            await tick()
            head, _, body = transport.sent.partition(b"\r\n\r\n")
            assert b"connection: close" in head
            assert b"transfer-encoding" not in head
            assert body == b"hello"
            assert transport.closed
            assert reported == (["gone"] if kept else [])

        play(scene)

    def test_head_gets_no_body(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
            handler.asked[0][1].begin(200, b"text/plain")
            handler.asked[0][1].write(b"hello")
            handler.asked[0][1].end()
            await tick()
            assert transport.sent.endswith(b"\r\n\r\n")
            assert transport.open

        play(scene)

    def test_a_handler_is_asked_for_more_when_the_client_has_taken_enough(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post() * 2)
            way, asked = handler.asked[1][1], []
            way.begin(200, b"text/plain")
            way.when_taken(lambda: asked.append("more"))
            await tick()
            assert asked == []  # its turn has not come
            handler.answer(0)
            await tick()
            assert asked == ["more"]
            connection.pause_writing()
            way.write(b"a")
            way.when_taken(lambda: asked.append("again"))
            await tick()
            assert transport.sent.endswith(b"1\r\na\r\n")
            assert asked == ["more"]
            connection.resume_writing()
            assert asked == ["more", "again"]
            way.end()
            await tick()
            assert transport.reads()

        play(scene)

    def test_a_slow_client_holds_up_the_maker_and_gets_all_of_it(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            piece, count, made = b"x" * 200_000, 60, []
            async with listening(handler) as (_, port), wire(port) as client:
                client.send(post())
                await handler.wait_for(1)
                way = handler.asked[0][1]

                def more() -> None:
                    made.append(1)
                    way.write(piece)
                    if len(made) < count:
                        way.when_taken(more)
                    else:
                        way.end()

                way.begin(200, b"text/plain")
                way.when_taken(more)
                await stands_still(made)
                assert len(made) < count
                head = await client._reader.readuntil(b"\r\n\r\n")
                assert b"chunked" in head
                came = 0
                while size := int(await client._reader.readuntil(b"\r\n"), 16):
                    came += len((await client._reader.readexactly(size + 2))[:-2])
                assert came == count * len(piece)

        play(scene)

    def test_a_client_that_disconnects_is_reported_once_and_later_writes_are_dropped(self) -> None:
        async def scene() -> None:
            reported: list[str] = []
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post())
            way = handler.asked[0][1]
            way.on_gone(lambda: reported.append("gone"))
            way.begin(200, b"text/plain")
            way.when_taken(lambda: reported.append("more"))
            await tick()
            assert reported == ["more"]
            assert connection.eof_received()  # it has shut its side, and may still read
            assert reported == ["more"]
            way.when_taken(lambda: reported.append("never"))
            connection.connection_lost(None)
            assert reported == ["more", "gone"]
            before = len(transport.writes)
            way.write(b"x")
            way.end()
            await tick()
            assert len(transport.writes) == before

        play(scene)

    def test_a_client_that_shuts_its_side_gets_the_rest(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post())
            handler.asked[0][1].begin(200, b"text/plain")
            assert connection.eof_received()
            handler.asked[0][1].write(b"rest")
            handler.asked[0][1].end()
            await tick()
            assert transport.sent.endswith(b"4\r\nrest\r\n0\r\n\r\n")
            assert transport.closed

        play(scene)

    def test_a_streamed_response_can_be_cut_in_the_middle(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (_, port), wire(port) as client:
                client.send(post())
                await handler.wait_for(1)
                way = handler.asked[0][1]
                way.begin(200, b"text/plain")
                way.write(b"half")
                way.when_taken(way.abort)
                assert (await client.rest()).endswith(b"4\r\nhalf\r\n")

        play(scene)

    def test_a_slow_client_can_be_cut_off_when_there_is_room(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (listener, port), wire(port) as client:
                client.send(post())
                await handler.wait_for(1)
                way = handler.asked[0][1]
                way.begin(200, b"text/plain")
                way.write(b"x" * 20_000_000)
                way.when_taken(way.abort)  # asked from inside the transport
                assert not (await client.rest()).endswith(b"0\r\n\r\n")
                await until(lambda: listener.connections == 0)

        play(scene)

    def test_a_response_begins_once_and_ends_once(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, _ = connect(handler)
            connection.data_received(post())
            way = handler.asked[0][1]
            with pytest.raises(UsageError, match="has not begun"):
                way.write(b"x")
            way.begin(200, b"text/plain")
            with pytest.raises(UsageError, match="has been answered"):
                way.begin(200, b"text/plain")
            with pytest.raises(UsageError, match="has been answered"):
                way.respond(200, b"")
            way.end()
            with pytest.raises(UsageError, match="has ended"):
                way.end()

        play(scene)


def unchunked(data: bytes) -> bytes:
    """Return the body of a chunked response."""
    body = b""
    while True:
        line, _, rest = data.partition(b"\r\n")
        size = int(line, 16)
        if not size:
            assert rest == b"\r\n"
            return body
        body, data = body + rest[:size], rest[size + 2 :]


async def stands_still(made: list[int]) -> None:
    """Let the event loop run until nothing more is made."""
    before = -1
    while before != len(made):
        before = len(made)
        for _ in range(20):
            await tick(5)
            turned = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_later(0.002, turned.set_result, None)
            await turned

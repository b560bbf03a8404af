"""A connection whose answers go to sinks while they arrive, on a recording transport and on sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reliquary.base.time import seconds
from reliquary.net.http.failures import BadResponse, ConnectionLost, RequestFailed
from reliquary.net.http.headers import Headers
from reliquary.net.http.streamed_connection import GATHERED_BYTES, StreamedConnection
from reliquary.net.tcp.dialing import ServerAddress, reach
from tests.net.http.harness import RecordingTransport, play, tick, until
from tests.net.stream_server import stream_server

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"
ANSWER = HEAD + b"0123456789"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"


class Sink:
    """A sink that keeps the calls to it."""

    def __init__(self, on_data: Callable[[bytes], None] = lambda _: None) -> None:
        self.status = 0
        self.headers: Headers = []
        self.data = b""
        self.ends: list[RequestFailed | None] = []
        self._on_data = on_data

    def begun(self, status: int, headers: Headers) -> None:
        self.headers = headers
        assert self.status == 0
        assert not self.ends
        self.status = status

    def taken(self, data: bytes) -> None:
        assert self.status
        assert not self.ends
        self.data += data
        self._on_data(data)

    def ended(self) -> None:
        self.ends.append(None)

    def failed(self, why: RequestFailed) -> None:
        self.ends.append(why)

    @property
    def whole(self) -> tuple[int, bytes]:
        assert self.ends == [None]
        return self.status, self.data


def made() -> tuple[StreamedConnection, RecordingTransport]:
    connection, transport = StreamedConnection(1000, lambda flush: flush()), RecordingTransport()
    connection.connection_made(transport)
    return connection, transport


def ask(connection: StreamedConnection) -> Sink:
    sink = Sink()
    connection.ask(b"POST / HTTP/1.1\r\n\r\n", sink)
    return sink


class TestGathering:
    """Requests leave together, and in their order."""

    def test_requests_of_one_tick_leave_in_one_write(self) -> None:
        async def scene() -> None:
            connection, transport = (
                StreamedConnection(1000, asyncio.get_running_loop().call_soon),
                RecordingTransport(),
            )
            connection.connection_made(transport)
            for number in range(3):
                connection.ask(b"request %d;" % number, Sink())
            assert transport.writes == []
            assert connection.unsent == len(b"request 0;") * 3
            await tick()
            assert transport.writes == [b"request 0;request 1;request 2;"]
            connection.ask(b"request 3;", Sink())
            await tick()
            assert transport.writes[1:] == [b"request 3;"]

        play(scene)

    def test_requests_made_by_answers_leave_after_the_last_answer(self) -> None:
        connection, transport = made()

        class Asks(Sink):
            """Asks again as soon as it is answered."""

            def ended(self) -> None:
                connection.ask(b"again;", Sink())

        for _ in range(3):
            connection.ask(b"first;", Asks())
        transport.writes.clear()
        connection.data_received(ANSWER + ANSWER + CHUNKED)
        assert transport.writes == [b"again;again;again;"]

    def test_large_ones_do_not_wait(self) -> None:
        waits: list[Callable[[], None]] = []
        connection, transport = StreamedConnection(1000, waits.append), RecordingTransport()
        connection.connection_made(transport)
        connection.ask(b"small;", Sink())
        connection.ask(b"x" * GATHERED_BYTES, Sink())
        assert transport.writes == [b"small;" + b"x" * GATHERED_BYTES]

    def test_a_piece_leaves_behind_the_head_of_its_request(self) -> None:
        connection, transport = StreamedConnection(1000, lambda _: None), RecordingTransport()
        connection.connection_made(transport)
        connection.ask(b"head;", Sink())
        connection.write(b"piece")
        assert transport.sent == b"head;piece"

    def test_what_was_not_written_before_a_cut_never_is(self) -> None:
        waits: list[Callable[[], None]] = []
        connection, transport = StreamedConnection(1000, waits.append), RecordingTransport()
        connection.connection_made(transport)
        sink = ask(connection)
        connection.cut(ConnectionLost("enough", began=False))
        for flush in waits:
            flush()
        assert transport.writes == []
        assert isinstance(sink.ends[0], ConnectionLost)


class TestAnswers:
    """Each goes to its own sink, in the order of the requests."""

    @pytest.mark.parametrize("answer", [ANSWER, CHUNKED], ids=["length", "chunked"])
    def test_an_answer_is_whole_wherever_its_bytes_are_cut(self, answer: bytes) -> None:
        for cut in range(1, len(answer)):
            connection, _ = made()
            sink = ask(connection)
            connection.data_received(answer[:cut])
            assert sink.ends == []
            connection.data_received(answer[cut:])
            assert sink.whole == (200, b"0123456789")
            assert connection.usable

    def test_each_begins_with_its_own_header_fields(self) -> None:
        connection, _ = made()
        first, second = ask(connection), ask(connection)
        connection.data_received(b"HTTP/1.1 100 Continue\r\nX-A: 0\r\n\r\n" + ANSWER + CHUNKED)
        assert first.headers == [(b"content-length", b"10")]
        assert second.headers == [(b"transfer-encoding", b"chunked")]

    def test_byte_by_byte_every_part_is_reported_at_once(self) -> None:
        connection, _ = made()
        sink = ask(connection)
        for place in range(len(ANSWER)):
            connection.data_received(ANSWER[place : place + 1])
            assert len(sink.data) == max(0, place + 1 - len(HEAD))
        assert sink.whole == (200, b"0123456789")

    def test_several_in_one_read(self) -> None:
        connection, _ = made()
        sinks = [ask(connection) for _ in range(3)]
        connection.data_received(ANSWER + CHUNKED.replace(b"200 OK", b"404 No") + ANSWER)
        assert [sink.whole[0] for sink in sinks] == [200, 404, 200]

    def test_a_peer_that_sends_interim_ones_without_end_is_cut_off(self) -> None:
        connection, transport = made()
        sink = ask(connection)
        connection.data_received(b"HTTP/1.1 102 Processing\r\n\r\n" * 10_000)
        assert transport.was_cut()
        assert isinstance(sink.ends[0], BadResponse)

    def test_one_in_another_transfer_coding_than_chunked_is_bad(self) -> None:
        connection, transport = made()
        sink = ask(connection)
        connection.data_received(CHUNKED.replace(b"chunked", b"gzip, chunked"))
        assert transport.was_cut()
        assert isinstance(sink.ends[0], BadResponse)
        assert sink.data == b""

    def test_interim_ones_are_passed_over(self) -> None:
        connection, _ = made()
        sink = ask(connection)
        connection.data_received(b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER)
        assert sink.whole == (200, b"0123456789")

    def test_an_answer_without_a_length_ends_with_the_connection(self) -> None:
        connection, _ = made()
        first, second = ask(connection), ask(connection)
        connection.data_received(b"HTTP/1.1 200 OK\r\n\r\nabc")
        assert first.ends == []
        connection.connection_lost(None)
        assert first.whole == (200, b"abc")
        assert isinstance(second.ends[0], ConnectionLost)

    @pytest.mark.parametrize("cut", range(1, len(ANSWER)))
    def test_an_answer_that_is_cut_off_has_failed(self, cut: int) -> None:
        connection, _ = made()
        sink = ask(connection)
        connection.data_received(ANSWER[:cut])
        connection.connection_lost(None)
        (why,) = sink.ends
        assert isinstance(why, ConnectionLost)
        assert why.began

    def test_what_is_no_http_fails_the_first_and_those_behind_it(self) -> None:
        connection, transport = made()
        first, second = ask(connection), ask(connection)
        connection.data_received(b"SSH-2.0-x\r\n")
        assert isinstance(first.ends[0], BadResponse)
        assert isinstance(second.ends[0], ConnectionLost)
        assert transport.aborted

    def test_a_head_without_end_is_refused(self) -> None:
        connection, _ = made()
        sink = ask(connection)
        for _ in range(20):
            if connection.usable:
                connection.data_received(b"HTTP/1.1 200 OK\r\n" if not sink.status else b"")
                connection.data_received(b"x: " + b"y" * 100 + b"\r\n")
        assert isinstance(sink.ends[0], BadResponse)

    def test_after_a_last_answer_those_behind_it_are_lost(self) -> None:
        connection, transport = made()
        first, second = ask(connection), ask(connection)
        connection.data_received(ANSWER.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        assert first.whole[0] == 200
        assert isinstance(second.ends[0], ConnectionLost)
        assert transport.aborted

    def test_nothing_is_reported_after_a_cut_in_the_middle(self) -> None:
        connection, _ = made()
        why = ConnectionLost("enough", began=True)
        sink = Sink(lambda _: connection.cut(why))
        connection.ask(b"x", sink)
        behind = ask(connection)
        connection.data_received(ANSWER + ANSWER)
        assert (sink.data, sink.ends, behind.ends) == (b"0123456789", [why], [why])
        connection.connection_lost(None)
        assert len(sink.ends) == 1


class TestReading:
    """What a sink cannot take yet stays where it is."""

    def test_reading_stops_and_goes_on(self) -> None:
        connection, transport = made()
        connection.read_on(False)
        connection.read_on(False)
        assert not transport.reading
        connection.read_on(True)
        assert transport.reading

    def test_a_connection_that_is_gone_is_left_alone(self) -> None:
        connection, transport = made()
        connection.read_on(False)
        connection.cut(ConnectionLost("enough", began=False))
        connection.read_on(True)
        assert not transport.reading
        connection.connection_lost(None)
        connection.read_on(True)


class TestRoom:
    """Pieces of a request wait for room."""

    def test_a_request_in_pieces_waits_for_room(self) -> None:
        async def scene() -> None:
            connection, transport = made()
            sink = ask(connection)
            connection.write(b"one")
            await connection.room()
            connection.pause_writing()
            connection.pause_writing()
            assert not connection.has_room
            waits = asyncio.ensure_future(connection.room())
            await tick()
            assert not waits.done()
            connection.resume_writing()
            await waits
            connection.write(b"two")
            assert transport.writes[1:] == [b"one", b"two"]
            connection.data_received(ANSWER)
            assert sink.whole[0] == 200

        play(scene)

    @pytest.mark.parametrize("end", ["cut", "lost"])
    def test_a_caller_that_waits_for_room_on_a_connection_that_ends_is_notified(self, end: str) -> None:
        async def scene() -> None:
            connection, transport = made()
            connection.pause_writing()
            waits = asyncio.ensure_future(connection.room())
            await tick()
            if end == "cut":
                connection.cut(ConnectionLost("enough", began=False))
            connection.connection_lost(None)
            with pytest.raises(ConnectionLost):
                await waits
            connection.write(b"late")
            assert transport.writes == []

        play(scene)

    def test_what_a_slow_peer_does_not_take_is_not_piled_up(self) -> None:
        async def scene() -> None:
            take = asyncio.Event()
            got = 0

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                nonlocal got
                await take.wait()
                while data := await reader.read(1 << 20):
                    got += len(data)
                    if data.endswith(b"end"):
                        writer.write(ANSWER)

            async with stream_server(serve) as port:
                soon = asyncio.get_running_loop().call_soon
                connection = StreamedConnection(1000, soon)
                await reach(ServerAddress("127.0.0.1", port), connection, seconds(10))
                sink = ask(connection)
                pieces = 0
                while connection.has_room:
                    connection.write(b"x" * 100_000)
                    pieces += 1
                assert pieces < 300  # 30 MB would be more than all buffers on the way hold
                take.set()
                await connection.room()
                connection.write(b"end")
                await until(lambda: bool(sink.ends))
                assert sink.whole[0] == 200
                assert got > pieces * 100_000
                connection.cut(ConnectionLost("enough", began=False))

        play(scene)

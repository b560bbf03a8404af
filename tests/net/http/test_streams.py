"""Bodies that are handed on while they come, on a recording transport and on sockets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import PeerFault
from reliquary.base.time import seconds
from reliquary.net.http.connection import Connection
from reliquary.net.http.limits import Limits
from reliquary.net.http.mounts import Mount
from reliquary.net.http.reader import LONG_SLICE, SLICE
from reliquary.net.http.request import Request
from reliquary.net.http.responder import Responder
from reliquary.net.tcp.accepted import ENGINE
from tests.net.http.harness import (
    RecordingTransport,
    bodies,
    connect,
    echo,
    listening,
    play,
    post,
    refusal,
    tick,
    until,
    wire,
)


class Sink:
    """Keeps what comes; answers at the end with what came, unless it is set to wait."""

    def __init__(self, request: Request, responder: Responder, *, waits: bool = False) -> None:
        self.request = request
        self.responder = responder
        self.parts: list[bytes] = []
        self.happened: list[str] = []
        self._waits = waits

    def feed(self, data: bytes) -> None:
        assert not self.happened
        self.parts.append(data)

    def end(self) -> None:
        assert not self.happened
        self.happened.append("end")
        if not self._waits:
            self.answer()

    def lost(self) -> None:
        assert not self.happened
        self.happened.append("lost")

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)

    def answer(self) -> None:
        self.responder.respond(200, self.request.path.encode() + b" " + self.body, b"text/plain")


class Sinks:
    """All sinks of a listener, oldest first."""

    def __init__(self, *, waits: bool = False) -> None:
        self.all: list[Sink] = []
        self.gone: list[int] = []
        self._waits = waits

    def __call__(self, request: Request, responder: Responder) -> Sink:
        self.all.append(Sink(request, responder, waits=self._waits))
        return self.all[-1]

    def limits(self, **more: int) -> Limits:
        return Limits(body_bytes=1000, **more)  # type: ignore[arg-type]

    def mount(self) -> Mount:
        return Mount(prefix="/in/", begin=self, ended=self.gone.append)

    def open(
        self, handler: Callable[[Request, Responder], None] = echo
    ) -> tuple[Connection, RecordingTransport]:
        return connect(handler, self.limits(), self.mount())


def chunks(path: str, *parts: bytes, more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n{more}\r\n".encode()
    return head + b"".join([b"%x\r\n%b\r\n" % (len(part), part) for part in parts]) + b"0\r\n\r\n"


class TestBodies:
    def test_a_body_comes_part_by_part_and_is_never_joined(self) -> None:
        sinks = Sinks()
        connection, transport = sinks.open()
        body = bytes(range(256)) * 4096
        connection.data_received(post("/in/q", body))
        sink = sinks.all[0]
        assert (sink.request.method, sink.request.path, sink.request.body) == ("POST", "/in/q", b"")
        assert sink.body == body
        assert max(map(len, sink.parts)) <= LONG_SLICE
        assert bodies(transport.sent) == [(200, b"/in/q " + body)]

    def test_a_client_that_streams_gets_longer_slices_and_equal_limits(self) -> None:
        sinks = Sinks()
        connection, transport = sinks.open()
        connection.data_received(post("/in/1", b"x"))
        connection.data_received(post("/in/2", b"x" * (LONG_SLICE - 1000)))
        assert [len(part) for part in sinks.all[1].parts] == [LONG_SLICE - 1000]
        large = [f"A{number}: " + "x" * 680 for number in range(98)]
        connection.data_received(post("/in/3", b"x" * SLICE) + post("/in/4", b"x", *large))
        assert len(sinks.all) == 3
        assert bodies(transport.sent)[-1][0] == 431

    def test_the_sink_has_the_head_before_the_body_comes(self) -> None:
        sinks = Sinks()
        connection, _ = sinks.open()
        connection.data_received(post("/in/q", b"hello")[:-5])
        assert [sink.request.path for sink in sinks.all] == ["/in/q"]
        assert sinks.all[0].parts == []

    def test_bodies_of_other_paths_are_whole(self) -> None:
        sinks = Sinks()
        connection, transport = sinks.open()
        connection.data_received(post("/in", b"a") + post("/in/q", b"b") + post("/out", b"c"))
        assert [body for _, body in bodies(transport.sent)] == [b"POST /in a", b"/in/q b", b"POST /out c"]
        assert len(sinks.all) == 1

    @pytest.mark.parametrize("path", ["/%69n/q", "http://h/in/q", "/in/q?x=1"])
    def test_the_path_may_be_written_in_any_way(self, path: str) -> None:
        sinks = Sinks()
        connection, transport = sinks.open()
        connection.data_received(post(path, b"b"))
        assert bodies(transport.sent) == [(200, b"/in/q b")]
        assert len(sinks.all) == 1

    @given(
        st.lists(
            st.sampled_from(
                [
                    post("/in/a", b"hello"),
                    post("/in/b", b""),
                    chunks("/in/c", b"a", b"bc" * 9),
                    post("/in/u", b"old", "Connection: Upgrade", "Upgrade: h2c"),
                    post("/q", b"whole"),
                    b"GET /in/g HTTP/1.1\r\nHost: h\r\n\r\n",
                ]
            ),
            min_size=1,
            max_size=5,
        ),
        st.lists(st.integers(1, 40), min_size=1, max_size=8),
    )
    def test_bytes_may_be_cut_anywhere(self, requests: list[bytes], sizes: list[int]) -> None:
        sent = b"".join(requests)
        whole, expected = Sinks().open()
        whole.data_received(sent)
        assert len(bodies(expected.sent)) == len(requests)
        connection, transport = Sinks().open()
        place = turn = 0
        while place < len(sent):
            size = sizes[turn % len(sizes)]
            connection.data_received(sent[place : place + size])
            place, turn = place + size, turn + 1
        assert transport.sent == expected.sent

    @pytest.mark.parametrize("early", [0, 1], ids=["waits", "does not wait"])
    def test_a_client_that_waits_for_the_go_ahead_gets_it(self, early: int) -> None:
        connection, transport = Sinks().open()
        asked = post("/in/q", b"ok", "Expect: 100-continue")
        cut = len(asked) - 2 + early
        connection.data_received(asked[:cut])
        connection.data_received(asked[cut:])
        connection.data_received(post("/q", b"ok", "Expect: 100-continue")[:-2])
        connection.data_received(b"ok")
        expected = [200, 100, 200] if early else [100, 200, 100, 200]
        assert [status for status, _ in bodies(transport.sent)] == expected

    def test_the_go_ahead_waits_for_the_earlier_answers(self) -> None:
        async def scene() -> None:
            sinks = Sinks(waits=True)
            connection, transport = sinks.open()
            connection.data_received(post("/in/1", b"a") + post("/in/2", b"b", "Expect: 100-continue")[:-1])
            assert transport.writes == []
            sinks.all[0].answer()
            await tick()
            assert [status for status, _ in bodies(transport.sent)] == [200, 100]

        play(scene)

    @pytest.mark.parametrize("version", ["1.0", "1.1"])
    def test_the_last_request_of_a_connection_is_read_to_its_end(self, version: str) -> None:
        connection, transport = Sinks().open()
        head = f"POST /in/q HTTP/{version}\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"
        connection.data_received(head.encode() + b"ab")
        assert transport.open
        connection.data_received(b"cd" + post("/in/behind"))
        assert bodies(transport.sent) == [(200, b"/in/q abcd")]
        assert transport.closed

    def test_a_malformed_chunked_body_is_refused_and_its_sink_notified(self) -> None:
        sinks = Sinks()
        connection, transport = sinks.open()
        connection.data_received(chunks("/in/q", b"abc")[:-5] + b"zz\r\n")
        assert sinks.all[0].happened == ["lost"]
        assert refusal(transport)[0] == 400


class TestRest:
    def test_a_sink_that_has_enough_gets_the_slice_and_then_nothing(self) -> None:
        sinks = Sinks(waits=True)
        connection, transport = sinks.open()
        connection.data_received(post("/in/1", b"x" * 100_000)[: 2 * SLICE])
        sinks.all[0].responder.pause_body()
        before = len(sinks.all[0].body)
        assert not transport.reads()
        connection.data_received(b"x" * 10)  # was on its way already
        assert len(sinks.all[0].body) == before
        sinks.all[0].responder.resume_body()
        assert len(sinks.all[0].body) == before + 10
        assert transport.reads()

    def test_requests_behind_a_waiting_body_keep_their_order(self) -> None:
        async def scene() -> None:
            sinks = Sinks(waits=True)
            connection, transport = connect(
                echo,
                None,
                Mount(prefix="/in/", begin=lambda *asked: paused(sinks(*asked))),
            )
            connection.data_received(post("/in/1", b"a") + post("/in/2", b"bc") + post("/q")[:-3])
            assert [sink.request.path for sink in sinks.all] == ["/in/1"]
            assert sinks.all[0].happened == ["end"]
            sinks.all[0].responder.resume_body()
            assert [sink.body for sink in sinks.all] == [b"a", b"bc"]
            assert sinks.all[1].happened == ["end"]
            sinks.all[1].responder.resume_body()
            connection.data_received(b"llo")
            sinks.all[1].answer()
            sinks.all[0].answer()
            await tick()
            assert [body for _, body in bodies(transport.sent)] == [b"/in/1 a", b"/in/2 bc", b"POST /q hello"]

        def paused(sink: Sink) -> Sink:
            sink.responder.pause_body()
            return sink

        play(scene)

    def test_a_body_that_came_while_the_engine_rested_is_kept_in_part(self) -> None:
        sinks = Sinks()

        def tired(request: Request, responder: Responder) -> None:
            echo(request, responder)
            connection.stop_reading(ENGINE)

        connection, _ = sinks.open(tired)
        connection.data_received(post("/q") + post("/in/1", b"abc")[:-1])
        connection.data_received(b"c")
        assert sinks.all == []
        connection.release(ENGINE)
        assert (sinks.all[0].body, sinks.all[0].happened) == (b"abc", ["end"])

    def test_a_body_that_comes_does_not_count_as_one_that_waits(self) -> None:
        sinks = Sinks(waits=True)
        connection, transport = connect(echo, sinks.limits(pipelined=1), sinks.mount())
        asked = post("/in/1", b"abc")
        connection.data_received(asked[:-1])
        assert transport.reads()
        connection.data_received(asked[-1:])
        assert not transport.reads()

    def test_our_rest_is_not_the_clients_and_what_came_before_it_buys_no_time(self) -> None:
        async def scene() -> None:
            sinks = Sinks()
            connection, transport = connect(echo, sinks.limits(body_rate=10), sinks.mount())
            connection.data_received(post("/in/1", b"x" * 5000)[:-1000])
            sink = sinks.all[0]
            sink.responder.pause_body()
            connection.sweep(seconds(1000))
            connection.shared.now = seconds(1000)
            sink.responder.resume_body()
            connection.data_received(b"x" * 100)
            connection.sweep(seconds(1070))
            assert sink.happened == []
            connection.sweep(seconds(1071))
            assert sink.happened == ["lost"]
            await tick()
            assert refusal(transport) == (
                408,
                "the body (100 bytes came) of a request may take 70 s, 71 s have passed",
            )

        play(scene)


class TestTheEnd:
    @pytest.mark.parametrize("how", ["eof", "lost"])
    @pytest.mark.parametrize("held", [False, True])
    def test_a_client_that_disconnects_in_the_middle_is_reported_to_the_sink_once(
        self, how: str, held: bool
    ) -> None:
        sinks = Sinks()
        connection, transport = sinks.open()
        connection.data_received(post("/in/1", b"abc")[:-1])
        if held:
            sinks.all[0].responder.pause_body()
        if how == "eof":
            assert not connection.eof_received()
            assert transport.closed
        connection.connection_lost(None)
        assert sinks.all[0].happened == ["lost"]
        sinks.all[0].responder.resume_body()
        sinks.all[0].answer()  # no client receives it

    def test_what_waits_before_a_lost_body_is_still_answered(self) -> None:
        async def scene() -> None:
            sinks = Sinks(waits=True)
            connection, transport = sinks.open()
            connection.data_received(post("/in/1", b"a") + post("/in/2", b"abc")[:-1])
            assert connection.eof_received()
            assert [sink.happened for sink in sinks.all] == [["end"], ["lost"]]
            sinks.all[0].answer()
            await tick()
            assert bodies(transport.sent) == [(200, b"/in/1 a")]
            assert transport.closed

        play(scene)

    @pytest.mark.parametrize("when", ["begin", "feed", "later"])
    def test_who_answers_before_the_end_gets_no_more_and_the_connection_closes(self, when: str) -> None:
        made: list[Hasty] = []

        class Hasty(Sink):
            def feed(self, data: bytes) -> None:
                assert not self.responder.out
                super().feed(data)
                if when == "feed":
                    self.responder.respond(200, b"enough")

        def begin(request: Request, responder: Responder) -> Hasty:
            made.append(Hasty(request, responder))
            if when == "begin":
                responder.respond(200, b"enough")
            return made[-1]

        async def scene() -> None:
            made.clear()
            connection, transport = connect(echo, None, Mount(prefix="/in/", begin=begin))
            connection.data_received(chunks("/in/1", b"abc", b"def")[:-8])
            if when == "later":
                made[0].responder.respond(200, b"enough")
                await tick()
            connection.data_received(b"more" + post())
            assert bodies(transport.sent) == [(200, b"enough")]
            assert b"connection: close" in transport.sent
            assert transport.shut  # and what the client still sends is read for a moment
            assert transport.reads()
            assert made[0].happened == []

        play(scene)

    def test_a_fault_of_the_peer_is_answered_with_its_status(self) -> None:
        def begin(request: Request, responder: Responder) -> Sink:
            raise PeerFault(403, "no", spec="RFC 9110 15.5.4")

        connection, transport = connect(echo, None, Mount(prefix="/in/", begin=begin))
        connection.data_received(post("/in/1", b"abc"))
        assert refusal(transport) == (403, "no")

    def test_a_refusal_takes_the_place_of_a_request_that_was_not_handed_on(self) -> None:
        sinks = Sinks()

        def tired(request: Request, responder: Responder) -> None:
            echo(request, responder)
            connection.stop_reading(ENGINE)

        connection, transport = sinks.open(tired)
        connection.data_received(post("/q") + chunks("/in/1", b"abc")[:-5] + b"zz\r\n")
        connection.release(ENGINE)
        assert [status for status, _ in bodies(transport.sent)] == [200, 400]
        assert sinks.all == []

    def test_a_listener_that_stops_lets_a_body_come_to_its_end(self) -> None:
        sinks = Sinks()
        connection, transport = sinks.open()
        asked = post("/in/1", b"abc")
        connection.data_received(asked[:-1])
        connection.shared.draining = True
        connection.finish()
        assert transport.open
        connection.data_received(asked[-1:] + post("/in/2"))
        assert bodies(transport.sent) == [(200, b"/in/1 abc")]
        assert b"connection: close" in transport.sent
        assert transport.closed

    def test_the_end_of_a_connection_is_reported_where_a_body_was_handed_on(self) -> None:
        for asked, reported in ((post("/in/1") * 3, [1]), (post("/q"), []), (post("/in/1")[:-1], [1])):
            sinks = Sinks(waits=True)
            connection, _ = sinks.open()
            connection.data_received(asked)
            connection.eof_received()
            assert sinks.gone == []
            connection.connection_lost(None)
            assert sinks.gone == reported

    def test_a_connection_is_cut_by_its_number(self) -> None:
        async def scene() -> None:
            sinks = Sinks(waits=True)
            async with (
                listening(echo, sinks.limits(), sinks.mount()) as (listener, port),
                wire(port) as client,
            ):
                client.send(post("/in/1", b"abc")[:-1])
                await until(lambda: bool(sinks.all))
                listener.cut(sinks.all[0].request.connection)
                assert await client.rest() == b""
                await until(lambda: sinks.all[0].happened == ["lost"])
                listener.cut(sinks.all[0].request.connection)

        play(scene)

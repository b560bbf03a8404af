"""Tests the limits of a connection of the listener: too much data, and too slow clients."""

from __future__ import annotations

import pytest

from reliquary.base.faults import PeerFault
from reliquary.base.time import seconds
from reliquary.net.http.limits import Limits
from reliquary.net.http.reader import SLICE
from reliquary.net.tcp.accepted import ENGINE
from reliquary.net.tcp.budget import Budget
from tests.net.http.harness import (
    ManualHandler,
    bodies,
    chunked,
    connect,
    connect_to,
    echo,
    play,
    post,
    refusal,
    share,
    tick,
)


class TestLimits:
    @pytest.mark.parametrize("parts", [1, 7], ids=["in one piece", "in pieces"])
    @pytest.mark.parametrize(
        ("limits", "request_bytes", "status", "sentence"),
        [
            (Limits(body_bytes=4), post(), 413, "a body may have 4 bytes, this has 5"),
            (Limits(body_bytes=4), chunked(b"abc", b"de"), 413, "a body may have 4 bytes, this has 5"),
            (Limits(headers=2), post("/q", b"", "A: 1"), 431, "a request may have 2 headers, this has 3"),
            (
                Limits(head_bytes=100),
                post("/q", b"", "A: " + "x" * 100),
                431,
                "the head may have 100 bytes, ",
            ),
            (Limits(head_bytes=100), post("/" + "x" * 100), 431, "the head may have 100 bytes, "),
        ],
        ids=["length", "chunks", "headers", "header bytes", "target"],
    )
    def test_what_is_too_large_is_refused_with_the_limit_and_the_value(
        self, limits: Limits, request_bytes: bytes, status: int, sentence: str, parts: int
    ) -> None:
        handler = ManualHandler()

        async def scene() -> None:
            connection, transport = connect(handler, limits)
            step = len(request_bytes) // parts
            for place in range(0, len(request_bytes), step):
                connection.data_received(request_bytes[place : place + step])
            await tick()
            assert refusal(transport)[0] == status
            assert refusal(transport)[1].startswith(sentence)
            assert transport.shut
            assert not handler.asked

        play(scene)

    @pytest.mark.parametrize(
        "opening",
        [
            b"",
            b"GET /",
            b"GET / HTTP/1.1\r\nA: ",
            chunked(b"abc")[:-2] + b"X-Trailer: ",
            chunked(b"abc")[:-5] + b"5;extension=",
        ],
        ids=["method", "target", "header", "trailer", "chunk extension"],
    )
    def test_a_line_without_end_is_cut_off(self, opening: bytes) -> None:
        connection, transport = connect(echo)
        connection.data_received(opening)
        for _ in range(20):
            connection.data_received(b"x" * SLICE)
        assert transport.shut
        assert refusal(transport)[0] in (400, 431)
        assert len(bodies(transport.sent)) == 1

    def test_headers_without_end_are_cut_off(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(b"GET / HTTP/1.1\r\n")
        for _ in range(101):
            connection.data_received(b"A: 1\r\n")
        connection.data_received(b"A: ")  # the parser reports a header once the next one begins
        assert refusal(transport) == (431, "a request may have 100 headers, this has 101")

    def test_a_head_just_within_the_limits_is_taken(self) -> None:
        handler = ManualHandler()
        connection, _ = connect(handler)
        large = [f"A{number}: " + "x" * 640 for number in range(98)]
        connection.data_received(post("/q", b"hello", *large))
        assert len(handler.asked[0][0].headers) == 100

    def test_a_head_of_many_whole_headers_is_weighed(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post("/q", b"hello", *[f"A{number}: " + "x" * 680 for number in range(98)]))
        assert refusal(transport)[0] == 431

    def test_a_pipeline_is_not_weighed_as_one_head(self) -> None:
        handler = ManualHandler()
        connection, _ = connect(handler, Limits(head_bytes=1000))
        data = post("/q", b"x" * 600) * 200
        for place in range(0, len(data), 5000):
            connection.data_received(data[place : place + 5000])
        assert len(handler.asked) == 200

    def test_one_connection_more_is_refused(self) -> None:
        async def scene() -> None:
            shared = share(echo, Limits(connections=1))
            connect_to(shared)
            _, transport = connect_to(shared)
            await tick()
            assert refusal(transport) == (503, "the server takes 1 connections, this is one more")

        play(scene)

    @pytest.mark.parametrize(
        "bad",
        [
            b"hello\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET /%ff HTTP/1.1\r\nHost: h\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"GET / HTTP/1.1\r\n folded\r\n\r\n",
            b"GET / HTTP/1.1\r\nA : 1\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
        ],
    )
    def test_what_is_not_http_gets_400_and_the_end(self, bad: bytes) -> None:
        handler = ManualHandler()

        async def scene() -> None:
            connection, transport = connect(handler)
            connection.data_received(bad)
            await tick()
            assert refusal(transport)[0] == 400
            assert transport.shut

        play(scene)
        assert not handler.asked

    @pytest.mark.parametrize("parts", [1, 7], ids=["in one piece", "in pieces"])
    @pytest.mark.parametrize(
        "fields",
        [
            b"Transfer-Encoding: gzip, chunked\r\n",
            b"transfer-encoding: identity, chunked\r\n",
            b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        ],
    )
    def test_a_body_in_a_coding_other_than_chunked_gets_501(self, fields: bytes, parts: int) -> None:
        handler = ManualHandler()

        async def scene() -> None:
            connection, transport = connect(handler)
            data = chunked(b"abc").replace(b"Transfer-Encoding: chunked\r\n", fields)
            step = len(data) // parts
            for place in range(0, len(data), step):
                connection.data_received(data[place : place + step])
            await tick()
            assert refusal(transport)[0] == 501
            assert "the only transfer coding that is known is chunked" in refusal(transport)[1]
            assert transport.shut

        play(scene)
        assert not handler.asked


class TestTogether:
    """What all connections hold is counted, and given back whatever becomes of them."""

    def test_bodies_are_counted_until_their_answer_and_refused_beyond_the_budget(self) -> None:
        handler = ManualHandler()

        async def scene() -> None:
            handler.asked.clear()
            budget = Budget(bodies=300_000)
            shared = share(handler, None, budget=budget)
            first, transport = connect_to(shared)
            second, refused = connect_to(shared)
            whole = post("/q", b"x" * 200_000)
            first.data_received(whole[:-1])
            assert 190_000 < budget.bodies.used <= 265_536
            second.data_received(post("/q", b"y" * 60_000))  # a small one is not counted
            handler.answer(0)
            await tick()
            refused.writes.clear()
            second.data_received(whole)
            await tick()
            assert "requests may take 300000 bytes together" in refusal(refused)[1]
            first.data_received(whole[-1:])
            assert [len(request.body) for request, _ in handler.asked] == [60_000, 200_000]
            assert budget.bodies.used
            handler.answer(1)
            await tick()
            assert budget.bodies.used == 0
            assert transport.sent

        play(scene)

    def test_what_a_lost_connection_held_is_given_back(self) -> None:
        handler = ManualHandler()

        async def scene() -> None:
            handler.asked.clear()
            budget = Budget()
            shared = share(handler, None, budget=budget)
            connection, transport = connect_to(shared)
            connection.data_received(
                post("/q", b"x" * 200_000) + post("/q", b"x" * 200_000) + post("/q", b"z" * 99_999)[:-1]
            )
            handler.asked[0][1].expect(5_000_000)
            transport.unsent = 300_000
            handler.answer(0, b"a" * 300_000)
            handler.answer(1, b"b" * 300_000)
            await tick()
            assert budget.bodies.used > 99_000
            assert budget.answers.used == 300_000
            connection.sweep(seconds(1))
            connection.connection_lost(None)
            assert (budget.bodies.used, budget.answers.used) == (0, 0)

        play(scene)

    def test_an_answer_for_which_there_is_no_room_is_refused_before_it_is_made(self) -> None:
        handler = ManualHandler()

        async def scene() -> None:
            handler.asked.clear()
            budget = Budget(answers=1_000_000)
            connection, _ = connect_to(share(handler, None, budget=budget))
            connection.data_received(post() * 3)
            first, second, third = (responder for _, responder in handler.asked)
            first.expect(5_000_000)  # the first may be of any size
            with pytest.raises(PeerFault, match="5000000 bytes wait for clients"):
                second.expect(1)
            first.respond(200, b"")
            third.expect(1_000_000)
            assert budget.answers.used == 1_000_000

        play(scene)

    def test_a_client_that_takes_nothing_is_cut_off_sooner_when_the_budget_is_used_up(self) -> None:
        budget = Budget(answers=100)
        connection, transport = connect_to(share(echo, None, budget=budget))
        transport.unsent = 200_000
        connection.pause_writing()
        connection.sweep(seconds(6))
        assert transport.open
        budget.answers.used = 101
        connection.sweep(seconds(7))
        assert transport.was_cut()


class TestTime:
    def test_a_slow_head_gets_408(self) -> None:
        async def scene() -> None:
            connection, transport = connect(echo)
            connection.data_received(b"P")
            connection.sweep(seconds(30))
            await tick()
            assert transport.writes == []
            connection.sweep(seconds(31))
            await tick()
            assert refusal(transport) == (408, "the head of a request may take 30 s, 31 s have passed")

        play(scene)

    def test_the_time_of_a_head_begins_with_its_first_byte(self) -> None:
        async def scene() -> None:
            connection, transport = connect(echo)
            connection.shared.now = seconds(100)
            connection.data_received(b"P")
            connection.sweep(seconds(130))
            await tick()
            assert transport.writes == []
            connection.sweep(seconds(131))
            await tick()
            assert refusal(transport)[0] == 408

        play(scene)

    def test_a_slow_head_is_not_helped_by_dripping(self) -> None:
        async def scene() -> None:
            connection, transport = connect(echo)
            for number, byte in enumerate(b"GET / HTTP/1.1\r\nHost: x"):
                connection.shared.now = seconds(number * 2)
                connection.data_received(bytes([byte]))
                connection.sweep(seconds(number * 2))
            await tick()
            assert refusal(transport)[0] == 408

        play(scene)

    def test_a_slow_body_gets_408_but_one_that_moves_gets_time(self) -> None:
        async def scene() -> None:
            connection, transport = connect(echo, Limits(body_rate=10))
            connection.data_received(post("/q", b"x" * 1000)[:-900])
            connection.sweep(seconds(70))
            await tick()
            assert transport.writes == []
            connection.sweep(seconds(71))
            await tick()
            assert refusal(transport) == (
                408,
                "the body (100 bytes came) of a request may take 70 s, 71 s have passed",
            )

        play(scene)

    def test_an_idle_connection_is_closed_without_a_word(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post())
        sent = transport.sent
        connection.sweep(seconds(120))
        assert transport.open
        connection.sweep(seconds(121))
        assert transport.closed
        assert transport.sent == sent

    def test_a_client_that_waits_for_its_answer_is_not_idle(self) -> None:
        connection, transport = connect(ManualHandler())
        connection.data_received(post())
        connection.sweep(seconds(10_000))
        assert transport.open

    def test_the_time_in_which_we_do_not_read_is_not_the_clients(self) -> None:
        async def scene() -> None:
            connection, transport = connect(echo)
            connection.data_received(b"GET ")
            connection.stop_reading(ENGINE)
            connection.sweep(seconds(100))
            connection.shared.now = seconds(100)
            connection.release(ENGINE)
            connection.sweep(seconds(130))
            await tick()
            assert transport.writes == []
            connection.sweep(seconds(131))
            await tick()
            assert refusal(transport)[0] == 408

        play(scene)

    def test_a_client_that_takes_no_byte_of_its_answers_is_cut_off(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post())
        connection.pause_writing()
        transport.unsent = 100_000
        connection.sweep(seconds(10))
        transport.unsent = 90_000
        connection.sweep(seconds(50))
        connection.sweep(seconds(110))
        assert not transport.was_cut()
        connection.sweep(seconds(111))
        assert transport.was_cut()

    def test_a_refused_client_is_heard_out_for_a_moment(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(b"nonsense\r\n\r\n")
        assert transport.shut
        assert transport.reads()
        connection.data_received(b"more of it")
        connection.sweep(seconds(5))
        assert transport.open
        connection.sweep(seconds(6))
        assert transport.was_cut()

    def test_over_tls_a_refusal_closes_at_once(self) -> None:
        connection, transport = connect(echo, tls=True)
        connection.data_received(b"nonsense\r\n\r\n")
        assert transport.closed
        assert not transport.was_cut()

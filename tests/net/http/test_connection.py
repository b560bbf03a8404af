"""Tests one connection of the listener, on a recording transport."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import PeerFault
from reliquary.net.http.limits import Limits
from reliquary.net.http.request import Request
from reliquary.net.http.responder import Responder
from reliquary.net.tcp.accepted import ENGINE
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


class TestRequests:
    def test_a_request_comes_whole(self) -> None:
        handler = ManualHandler()
        connection, _ = connect(handler)
        connection.data_received(post("/a%20b?wait=1", b"body", "X-Name: Value"))
        request = handler.asked[0][0]
        assert (request.method, request.path, request.query) == ("POST", "/a b", b"wait=1")
        assert request.body == b"body"
        assert request.header(b"x-name") == b"Value"
        assert request.keep_alive

    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param(post() + post("/r?x", b""), id="two posts"),
            pytest.param(chunked(b"a", b"bc" * 20) + post(), id="chunked"),
            pytest.param(chunked(b"a", trailers=b"X-After: 1\r\n") + post(), id="trailers"),
            pytest.param(b"\r\n\r\n" + post(), id="blank lines before"),
            pytest.param(post("/u", b"old", "Connection: Upgrade", "Upgrade: h2c") + post(), id="upgrade"),
        ],
    )
    def test_bytes_may_be_cut_anywhere(self, sent: bytes) -> None:
        whole, transport = connect(echo)
        whole.data_received(sent)
        expected = transport.sent
        assert len(bodies(expected)) == sent.count(b" HTTP/1.1")
        for cut in range(1, len(sent)):
            connection, transport = connect(echo)
            connection.data_received(sent[:cut])
            connection.data_received(sent[cut:])
            assert transport.sent == expected, cut

    def test_bytes_may_come_one_by_one(self) -> None:
        connection, transport = connect(echo)
        for place in range(len(sent := post() + chunked(b"xy", b"z") + post("/last"))):
            connection.data_received(sent[place : place + 1])
        assert bodies(transport.sent) == [
            (200, b"POST /q hello"),
            (200, b"POST /chunks xyz"),
            (200, b"POST /last hello"),
        ]

    def test_a_large_body_is_joined_from_its_parts(self) -> None:
        handler = ManualHandler()
        connection, _ = connect(handler)
        body = bytes(range(256)) * 4096
        connection.data_received(post("/q", body))
        assert handler.asked[0][0].body == body
        assert isinstance(handler.asked[0][0].body, bytes)

    def test_trailers_are_not_headers(self) -> None:
        handler = ManualHandler()
        connection, _ = connect(handler)
        connection.data_received(chunked(b"a", trailers=b"Authorization: forged\r\n") + post())
        assert [request.header(b"authorization") for request, _ in handler.asked] == [None, None]

    @pytest.mark.parametrize(
        ("version", "said", "kept"),
        [
            ("1.1", "", True),
            ("1.1", "Connection: close\r\n", False),
            ("1.0", "", False),
            ("1.0", "Connection: keep-alive\r\n", True),
        ],
    )
    def test_the_version_and_the_header_say_whether_the_connection_stays(
        self, version: str, said: str, kept: bool
    ) -> None:
        connection, transport = connect(echo)
        connection.data_received(f"GET / HTTP/{version}\r\nHost: h\r\n{said}\r\n".encode())
        assert transport.closed is not kept
        assert (b"connection: close" in transport.sent) is not kept
        assert (b"connection: keep-alive" in transport.sent) is (kept and version == "1.0")

    def test_what_follows_the_last_request_is_not_heard(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post("/q", b"", "Connection: close") + post() + b"nonsense")
        assert bodies(transport.sent) == [(200, b"POST /q ")]
        assert transport.closed

    def test_head_is_answered_without_a_body(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(b"HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n" + post())
        head, _, rest = transport.sent.partition(b"\r\n\r\n")
        assert b"content-length: 8" in head
        assert bodies(rest) == [(200, b"POST /q hello")]

    def test_an_upgrade_is_passed_over_and_its_body_is_taken(self) -> None:
        handler = ManualHandler()
        connection, _ = connect(handler)
        body = b"GET /smuggled HTTP/1.1\r\n\r\n"
        connection.data_received(post("/q", body, "Connection: Upgrade", "Upgrade: h2c") + post("/next"))
        assert [request.path for request, _ in handler.asked] == ["/q", "/next"]
        assert [request.body for request, _ in handler.asked] == [body, b"hello"]

    @pytest.mark.parametrize(
        "head",
        [
            b"CONNECT host:443 HTTP/1.1\r\nHost: host\r\n\r\n",
            chunked().replace(b"Host: here", b"Connection: upgrade\r\nUpgrade: h2c"),
        ],
        ids=["connect", "upgrade of a chunked request"],
    )
    def test_what_changes_the_protocol_is_refused(self, head: bytes) -> None:
        connection, transport = connect(echo)
        connection.data_received(head + b"0\r\n\r\n")
        assert refusal(transport)[0] == 501
        assert len(bodies(transport.sent)) == 1

    def test_a_fault_of_the_peer_that_the_handler_finds_is_answered_and_the_connection_goes_on(self) -> None:
        def picky(request: Request, responder: Responder) -> None:
            raise PeerFault(409, "not so", spec="here")

        connection, transport = connect(picky)
        connection.data_received(post() + post())
        assert bodies(transport.sent) == [(409, b'{"error": "not so"}')] * 2

    def test_a_fault_of_ours_goes_up(self) -> None:
        def broken(request: Request, responder: Responder) -> None:
            raise AssertionError("we are wrong")

        connection, _ = connect(broken)
        with pytest.raises(AssertionError, match="we are wrong"):
            connection.data_received(post())


class TestOrder:
    def test_answers_leave_in_the_order_of_the_requests(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post() * 4)
            for number in (2, 1, 3):
                handler.answer(number)
            await tick()
            assert transport.writes == []
            handler.answer(0)
            await tick()
            assert bodies(transport.sent) == [(200, b"answer %d" % number) for number in range(4)]
            assert len(transport.writes) == 1

        play(scene)

    def test_a_request_that_waits_delays_only_the_requests_behind_it(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post() * 3)
            handler.answer(0)
            handler.answer(2)
            await tick()
            assert bodies(transport.sent) == [(200, b"answer 0")]

        play(scene)

    def test_head_and_body_are_one_write(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post())
        assert len(transport.writes) == 1
        assert transport.writes[0].endswith(b"\r\n\r\nPOST /q hello")

    def test_answers_at_once_to_requests_that_came_together_are_one_write(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post() * 10)
        assert len(transport.writes) == 1
        assert len(bodies(transport.sent)) == 10

    def test_a_refusal_stands_behind_the_earlier_answers(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post() + b"nonsense\r\n\r\n")
            await tick()
            assert transport.writes == []
            handler.answer(0)
            await tick()
            assert [status for status, _ in bodies(transport.sent)] == [200, 400]

        play(scene)


class TestContinue:
    ASK = b"POST /q HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n"

    def test_a_client_that_waits_for_the_go_ahead_gets_it_once(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(self.ASK)
        assert transport.sent == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.data_received(b"o")
        connection.data_received(b"k")
        assert [status for status, _ in bodies(transport.sent)] == [100, 200]

    def test_a_client_that_did_not_wait_gets_none(self) -> None:
        for cut in (len(self.ASK) + 1, len(self.ASK) + 2):
            connection, transport = connect(echo)
            data = self.ASK + b"ok"
            connection.data_received(data[:cut])
            connection.data_received(data[cut:])
            assert [status for status, _ in bodies(transport.sent)] == [200]

    def test_the_go_ahead_waits_for_the_earlier_answers(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post() + self.ASK)
            assert transport.writes == []
            handler.answer(0)
            await tick()
            assert [status for status, _ in bodies(transport.sent)] == [200, 100]

        play(scene)

    def test_a_body_that_would_be_too_large_is_refused_before_it_is_sent(self) -> None:
        connection, transport = connect(echo, Limits(body_bytes=1))
        connection.data_received(self.ASK)
        assert refusal(transport) == (413, "a body may have 1 bytes, this has 2")
        assert b"100 Continue" not in transport.sent


class TestBackPressure:
    def test_reading_stops_at_the_limit_of_pipelined_requests_and_goes_on_below_it(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler, Limits(pipelined=3))
            connection.data_received(post() * 3)
            assert not transport.reads()
            handler.answer(1)
            await tick()
            assert not transport.reads()
            handler.answer(0)
            await tick()
            assert transport.reads()

        play(scene)

    @pytest.mark.parametrize("size", [0, 4000], ids=["many to a slice", "few to a slice"])
    def test_the_handler_never_has_more_than_the_limit(self, size: int) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler, Limits(pipelined=3))
            connection.data_received(post("/q", b"x" * size) * 40)
            connection.data_received(b"nonsense")
            for answered in range(40):
                assert len(handler.asked) == min(answered + 3, 40)
                handler.answer(answered)
                await tick()
            assert [status for status, _ in bodies(transport.sent)] == [200] * 40 + [400]

        play(scene)

    def test_a_handler_that_answers_at_once_gets_all_of_a_long_pipeline(self) -> None:
        connection, transport = connect(echo, Limits(pipelined=3))
        connection.data_received(post() * 40)
        assert len(bodies(transport.sent)) == 40
        assert transport.reads()

    def test_a_handler_that_asks_for_a_rest_gets_no_request_more(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()

            def tired(request: Request, responder: Responder) -> None:
                handler(request, responder)
                connection.stop_reading(ENGINE)

            connection, _ = connect(tired)
            connection.data_received(post() * 3)
            assert len(handler.asked) == 1
            connection.release(ENGINE)
            assert len(handler.asked) == 2

        play(scene)

    def test_requests_that_wait_are_forgotten_when_the_client_hangs_up(self) -> None:
        handler = ManualHandler()
        connection, transport = connect(handler)
        connection.stop_reading(ENGINE)
        connection.data_received(post())
        connection.release(ENGINE)
        connection.stop_reading(ENGINE)
        assert len(handler.asked) == 1
        handler.asked[0][1].on_gone(lambda: None)
        assert not connection.eof_received()
        assert transport.closed

    def test_a_client_that_does_not_read_is_not_read_from(self) -> None:
        connection, transport = connect(echo)
        connection.pause_writing()
        assert not transport.reads()
        connection.data_received(post())  # was on its way already
        assert transport.writes == []
        connection.resume_writing()
        assert transport.reads()
        assert bodies(transport.sent) == [(200, b"POST /q hello")]

    def test_reading_goes_on_when_the_last_reason_has_gone(self) -> None:
        connection, transport = connect(echo)
        connection.stop_reading(ENGINE)
        connection.pause_writing()
        connection.resume_writing()
        assert not transport.reads()
        connection.release(ENGINE)
        assert transport.reads()

    def test_a_new_connection_of_a_resting_listener_rests_too(self) -> None:
        shared = share(echo)
        shared.paused = True
        _, transport = connect_to(shared)
        assert not transport.reads()


class TestTheEnd:
    def test_a_client_that_shuts_its_side_still_gets_its_answer(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            connection, transport = connect(handler)
            connection.data_received(post())
            assert connection.eof_received()
            handler.answer(0)
            await tick()
            assert bodies(transport.sent) == [(200, b"answer 0")]
            assert transport.closed

        play(scene)

    def test_an_abandoned_wait_ends_the_connection(self) -> None:
        handler = ManualHandler()
        connection, transport = connect(handler)
        connection.data_received(post() + post())
        handler.asked[0][1].on_gone(lambda: None)
        assert not connection.eof_received()
        assert transport.closed

    def test_a_wait_that_is_answered_when_the_client_hangs_up_is_sent(self) -> None:
        handler = ManualHandler()
        connection, transport = connect(handler)
        connection.data_received(post())
        handler.asked[0][1].on_gone(lambda: handler.answer(0))
        connection.eof_received()
        assert bodies(transport.sent) == [(200, b"answer 0")]
        assert transport.closed

    def test_a_half_request_at_the_end_is_forgotten(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post()[:-2])
        assert not connection.eof_received()
        assert transport.writes == []
        assert transport.closed

    def test_an_idle_connection_finishes_at_once(self) -> None:
        connection, transport = connect(echo)
        connection.finish()
        assert transport.closed

    def test_a_request_that_was_begun_is_finished_and_is_the_last(self) -> None:
        connection, transport = connect(echo)
        connection.data_received(post()[:20])
        connection.shared.draining = True
        connection.finish()
        assert transport.open
        connection.data_received(post()[20:] + post())
        assert len(bodies(transport.sent)) == 1
        assert b"connection: close" in transport.sent
        assert transport.closed


PIECES = st.sampled_from(
    [
        post(),
        chunked(b"abc", b"d"),
        b"GET / HTTP/1.1\r\n",
        b"Host: h\r\n",
        b"\r\n",
        b"Content-Length: 3\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
        b"Connection: close\r\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"HEAD / HTTP/1.0\r\n\r\n",
        b"\x00",
        b"x" * 300,
    ]
)


@given(st.lists(PIECES | st.binary(max_size=40), max_size=12), st.booleans(), st.data())
def test_whatever_bytes_come_the_answer_is_http_or_the_end(
    pieces: list[bytes], end: bool, data: st.DataObject
) -> None:
    limits = Limits(head_bytes=400, headers=5, body_bytes=50, pipelined=2)
    connection, transport = connect(echo, limits)
    whole = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        connection.data_received(whole[start:stop])
    if end:
        connection.eof_received()
        assert transport.closed or transport.shut
    statuses = [int(line[9:12]) for line in transport.sent.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    assert set(statuses) <= {100, 200, 400, 413, 431, 501}
    assert all(status < 400 for status in statuses[:-1])
    if statuses and statuses[-1] >= 400:
        assert transport.shut

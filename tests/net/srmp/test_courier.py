"""Tests the courier: order, one connection, and how each POST ends on peers that behave in every way."""

from __future__ import annotations

import asyncio
import gc

import pytest

from reliquary.base.time import seconds
from reliquary.net.srmp.courier import ANSWER_BYTES, PIPELINED_BYTES, Courier
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.refusals import refusal_field
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.travel.failures import Failure
from tests.net.http.harness import play, tick, until
from tests.net.srmp.harness import (
    OK,
    Behaviour,
    Peer,
    answering,
    courier_bench,
    peer,
    served_endpoint,
    silent,
)
from tests.ports import free_port

CLOSE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def failures(ended: list) -> list[tuple[int, Failure]]:  # type: ignore[type-arg]
    return [(each.lookup_id, each.failure) for each in ended]


def test_the_request_is_the_one_that_peers_know() -> None:
    post = Post(
        1, 0, 1, "http://relay.example", "beta.example:81", "/msmq/private$/q?x=1", "text/xml", b"<e/>"
    )
    courier = Courier(lambda _: None, in_flight=1, response_time=seconds(1))
    assert courier.encode(post) == (
        b"POST /msmq/private$/q?x=1 HTTP/1.1\r\n"
        b"Host: beta.example:81\r\n"
        b"Content-Type: text/xml\r\n"
        b"Content-Length: 4\r\n"
        b'SOAPAction: "MSMQMessage"\r\n'
        b"Proxy-Accept: NonInteractiveClient\r\n"
        b"\r\n<e/>"
    )


@pytest.mark.parametrize(("hops", "left"), [(1, b"14"), (15, b"0")])
def test_a_message_that_is_passed_on_says_how_often_it_may_be_passed_on_again(hops: int, left: bytes) -> None:
    post = Post(1, 0, 1, "http://relay.example", "beta.example", "/msmq/q", "text/xml", b"<e/>", hops)
    courier = Courier(lambda _: None, in_flight=1, response_time=seconds(1))
    assert b"Content-Type: text/xml\r\nMax-Forwards: " + left + b"\r\n" in courier.encode(post)


def test_the_trace_of_a_message_stands_in_the_fields_of_http() -> None:
    context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 a=1"
    post = Post(1, 0, 1, "http://b.example", "b.example", "/msmq/q", "text/xml", b"<e/>", 0, context)
    courier = Courier(lambda _: None, in_flight=1, response_time=seconds(1))
    expected = b"Content-Type: text/xml\r\ntraceparent: %b\r\ntracestate: a=1\r\n"
    assert expected % context.partition(" ")[0].encode() in courier.encode(post)


@pytest.mark.spec("SR-001", "SR-290", "SR-310")
def test_what_is_posted_arrives_at_an_endpoint_and_its_status_comes_back() -> None:
    async def scene() -> None:
        async with served_endpoint() as there, courier_bench(f"http://127.0.0.1:{there.port}") as here:
            here.post(1, 2, 3)
            await here.wait_for(3)
            assert here.statuses == [(1, 200), (2, 200), (3, 200)]
            assert [each.body for each in there.machine.came] == [b"body 1", b"body 2", b"body 3"]
            assert here.courier.connections == there.listener.connections == 1
            assert here.courier.answers == {200: 3}

    play(scene)


@pytest.mark.spec("SR-311")
def test_the_server_is_where_it_goes_and_the_host_is_whom_it_is_for() -> None:
    async def scene() -> None:
        async with peer(answering()) as there, courier_bench(there.server) as here:
            here.post(1)
            await here.wait_for(1)
            assert b"\r\nHost: beta.example\r\n" in there.heads[0]

    play(scene)


def test_several_go_before_the_first_is_answered_but_not_more_than_allowed() -> None:
    async def scene() -> None:
        async with peer(silent(4)) as there, courier_bench(there.server, in_flight=4) as here:
            here.post(*range(1, 10))
            await until(lambda: len(there.bodies) == 4)
            assert len(here.courier.pipelines[1]._waiting) == 5

    play(scene)


def test_a_large_post_is_answered_before_the_next_one_is_sent() -> None:
    async def scene() -> None:
        async with peer(silent(1)) as there, courier_bench(there.server) as here:
            here.post(1, 2, 3, body=b"x" * PIPELINED_BYTES)
            await until(lambda: len(there.bodies) == 1)
            assert len(here.courier.pipelines[1]._waiting) == 2
            here.courier.stop()
        async with peer(answering()) as there, courier_bench(there.server) as here:
            here.post(1, 2, 3, body=b"x" * PIPELINED_BYTES)
            await here.wait_for(3)
            assert here.statuses == [(1, 200), (2, 200), (3, 200)]

    play(scene)


def test_sessions_have_connections_of_their_own() -> None:
    async def scene() -> None:
        async with peer(silent(1), answering()) as there, courier_bench(there.server) as here:
            here.post(1, session=1)
            await until(lambda: len(there.bodies) == 1)
            here.post(2, session=2)
            await here.wait_for(1)
            assert here.statuses == [(2, 200)]
            assert there.accepted == 2

    play(scene)


def test_any_status_is_an_answer_and_does_not_end_the_session() -> None:
    async def scene() -> None:
        answers = [b"HTTP/1.1 %d X\r\nContent-Length: 4\r\n\r\nbody" % each for each in (400, 500, 404, 302)]
        async with peer(answering(*answers)) as there, courier_bench(there.server) as here:
            here.post(1, 2, 3, 4)
            await here.wait_for(4)
            assert here.statuses == [(1, 400), (2, 500), (3, 404), (4, 302)]
            assert there.accepted == 1

    play(scene)


def test_what_comes_before_the_answer_is_passed_over() -> None:
    async def scene() -> None:
        interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        async with peer(answering(interim + OK, OK)) as there, courier_bench(there.server) as here:
            here.post(1, 2)
            await here.wait_for(2)
            assert here.statuses == [(1, 200), (2, 200)]

    play(scene)


class TestReconnect:
    """A peer may close a connection between two answers; no error is reported then."""

    def test_a_connection_that_was_closed_while_idle_is_replaced(self) -> None:
        async def scene() -> None:
            async with peer(answering(OK), answering()) as there, courier_bench(there.server) as here:
                here.post(1)
                await here.wait_for(1)
                await until(lambda: here.courier.connections == 0)
                here.post(2)
                await here.wait_for(2)
                assert here.statuses == [(1, 200), (2, 200)]
                assert there.accepted == 2

        play(scene)

    def test_what_was_sent_into_a_closing_connection_goes_again_in_its_order(self) -> None:
        def closing(made: Peer) -> Behaviour:
            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await made.read(reader)
                writer.write(OK)
                await made.read(reader)  # and hang up without an answer

            return serve

        async def scene() -> None:
            async with peer(closing, answering()) as there, courier_bench(there.server, in_flight=4) as here:
                here.post(1)
                await here.wait_for(1)
                here.post(2, 3, 4)
                await here.wait_for(4)
                assert here.statuses == [(1, 200), (2, 200), (3, 200), (4, 200)]
                assert there.bodies == [b"body %d" % each for each in (1, 2, 2, 3, 4)]

        play(scene)

    def test_a_peer_that_hangs_up_after_each_answer_gets_one_at_a_time(self) -> None:
        async def scene() -> None:
            async with peer(answering(CLOSE)) as there, courier_bench(there.server) as here:
                here.post(*range(1, 8))
                await here.wait_for(7)
                assert here.statuses == [(each, 200) for each in range(1, 8)]
                assert there.accepted == 7
                assert there.bodies == [b"body %d" % each for each in range(1, 8)]
                assert here.courier.pipelines[1]._depth == 1

        play(scene)

    def test_a_peer_that_answers_nothing_on_the_next_connection_either_is_lost(self) -> None:
        async def scene() -> None:
            hang_up = answering(b"")
            async with peer(answering(OK), hang_up) as there, courier_bench(there.server) as here:
                here.post(1, 2)
                await here.wait_for(2)
                assert here.statuses[0] == (1, 200)
                assert failures(here.ended[1:]) == [(2, Failure.LOST)]
                assert there.accepted == 2

        play(scene)

    def test_a_server_that_answers_without_a_request_is_disconnected(self) -> None:
        async def scene() -> None:
            async with peer(answering(OK + OK), answering()) as there, courier_bench(there.server) as here:
                here.post(1)
                await here.wait_for(1)
                await until(lambda: here.courier.connections == 0)
                here.post(2)
                await here.wait_for(2)
                assert here.statuses == [(1, 200), (2, 200)]
                assert there.accepted == 2

        play(scene)


class TestFailure:
    """Each POST ends once; none is sent behind one that failed."""

    @pytest.mark.spec("SR-293")
    def test_a_server_without_a_listener_is_no_connection(self) -> None:
        async def scene() -> None:
            async with courier_bench(f"http://127.0.0.1:{free_port()}") as here:
                here.post(1, 2)
                await here.wait_for(2)
                assert failures(here.ended) == [(1, Failure.NO_CONNECTION), (2, Failure.NO_CONNECTION)]
                assert "no connection to 127.0.0.1" in here.ended[0].why
                assert here.courier.failures == {Failure.NO_CONNECTION: 2}

        play(scene)

    @pytest.mark.parametrize(
        "server",
        ["http://no-such-host.invalid", "http://a..b", "http://h:99999", "ftp://h", "http://", "http://[::1"],
    )
    def test_a_malformed_address_is_a_failure(self, server: str) -> None:
        async def scene() -> None:
            async with courier_bench(server) as here:
                here.post(1)
                await here.wait_for(1)
                assert failures(here.ended) == [(1, Failure.NO_ADDRESS)]

        play(scene)

    def test_a_peer_that_hangs_up_at_once_loses_all_posts(self) -> None:
        async def scene() -> None:
            async with peer(answering(b"")) as there, courier_bench(there.server) as here:
                here.post(1, 2, 3)
                await here.wait_for(3)
                assert failures(here.ended) == [(each, Failure.LOST) for each in (1, 2, 3)]

        play(scene)

    @pytest.mark.srmp("F-70")
    @pytest.mark.parametrize(
        "garbage",
        [
            b"HTTP/9 what\r\n\r\n",
            b"\0\xff\0\xff",
            b"SSH-2.0-x\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        ],
        ids=["version", "bytes", "another protocol", "length"],
    )
    def test_what_is_no_http_ends_the_first_and_those_behind_it(self, garbage: bytes) -> None:
        async def scene() -> None:
            async with peer(answering(OK, garbage)) as there, courier_bench(there.server) as here:
                here.post(1, 2, 3)
                await here.wait_for(3)
                assert here.statuses[0] == (1, 200)
                assert failures(here.ended[1:]) == [(2, Failure.LOST), (3, Failure.LOST)]

        play(scene)

    def test_a_post_with_half_an_answer_is_lost(self) -> None:
        async def scene() -> None:
            async with (
                peer(answering(b"HTTP/1.1 200 OK\r\nContent-Le")) as there,
                courier_bench(there.server) as here,
            ):
                here.post(1)
                await here.wait_for(1)
                assert failures(here.ended) == [(1, Failure.LOST)]

        play(scene)

    def test_a_page_without_end_is_no_answer(self) -> None:
        async def scene() -> None:
            size = ANSWER_BYTES + 1
            page = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + bytes(size)
            async with peer(answering(OK, page)) as there, courier_bench(there.server) as here:
                here.post(1, 2, 3)
                await here.wait_for(3)
                assert failures(here.ended[1:]) == [(2, Failure.LOST), (3, Failure.LOST)]
                assert here.ended[1].why.startswith(f"an answer may have {ANSWER_BYTES} bytes")

        play(scene)

    @pytest.mark.srmp("T-16")
    @pytest.mark.spec("SR-290")
    def test_a_peer_that_never_answers_is_given_up_after_the_time(self) -> None:
        async def scene() -> None:
            async with (
                peer(silent(9)) as there,
                courier_bench(there.server, response_time=seconds(0.05)) as here,
            ):
                here.post(1, 2)
                await here.wait_for(2)
                assert failures(here.ended) == [(1, Failure.TIMED_OUT), (2, Failure.LOST)]
                assert here.ended[0].why == "no answer within 0.05 s"
                assert here.courier.connections == 0

        play(scene)

    def test_each_answer_gives_the_next_one_its_time(self) -> None:
        async def scene() -> None:
            async with (
                peer(answering()) as there,
                courier_bench(there.server, response_time=seconds(5)) as here,
            ):
                here.post(1)
                await here.wait_for(1)
                pipeline = here.courier.pipelines[1]
                pipeline._look()  # nothing waits: the clock stands
                clocks = [pipeline._timer]
                here.post(2)
                clocks.append(pipeline._timer)
                pipeline._look()  # too early: it is set again
                clocks.append(pipeline._timer)
                assert [clock is None for clock in clocks] == [True, False, False]
                await here.wait_for(2)

        play(scene)

    def test_posts_that_come_after_a_failure_are_not_sent(self) -> None:
        async def scene() -> None:
            async with peer(answering(b""), answering()) as there, courier_bench(there.server) as here:
                here.post(1)
                await here.wait_for(1)
                here.post(2)
                assert failures(here.ended) == [(1, Failure.LOST), (2, Failure.LOST)]
                here.post(1, 2, epoch=1)
                await here.wait_for(4)
                assert here.statuses[2:] == [(1, 200), (2, 200)]

        play(scene)

    def test_a_message_that_makes_no_request_has_no_address(self) -> None:
        async def scene() -> None:
            async with peer(answering()) as there, courier_bench(there.server) as here:
                here.courier.post(Post(1, 0, 1, there.server, "h", "/a b", "text/xml", b""))
                here.post(2)
                await here.wait_for(2)
                assert failures(here.ended) == [(1, Failure.NO_ADDRESS), (2, Failure.NO_ADDRESS)]

        play(scene)


class TestEnd:
    """A session that was ended is forgotten with all that was in flight."""

    def test_nothing_is_reported_of_an_ended_session(self) -> None:
        async def scene() -> None:
            async with peer(silent(2), answering()) as there, courier_bench(there.server) as here:
                here.post(1, 2)
                await until(lambda: len(there.bodies) == 2)
                here.courier.end(EndSession(1, 0))
                here.post(3, epoch=0)  # it was on its way when the session ended
                assert (here.courier.posted, len(here.courier.pipelines)) == (2, 0)
                here.post(1, epoch=1)
                await here.wait_for(1)
                assert [(each.epoch, each.lookup_id) for each in here.ended] == [(1, 1)]
                assert there.bodies == [b"body 1", b"body 2", b"body 1"]

        play(scene)

    def test_a_session_that_ends_while_it_connects_is_not_reported(self) -> None:
        async def scene() -> None:
            async with peer(answering()) as there, courier_bench(there.server) as here:
                here.post(1)
                here.courier.end(EndSession(1, 0))
                await tick(5)
                here.post(2, epoch=1)
                await here.wait_for(1)
                assert [(each.epoch, each.lookup_id) for each in here.ended] == [(1, 2)]

        play(scene)

    def test_an_end_that_comes_late_leaves_the_next_session_alone(self) -> None:
        async def scene() -> None:
            async with peer(answering()) as there, courier_bench(there.server) as here:
                here.post(1, epoch=0)
                await here.wait_for(1)
                here.post(2, epoch=1)
                here.courier.end(EndSession(1, 0))
                await here.wait_for(2)
                assert here.statuses == [(1, 200), (2, 200)]

        play(scene)

    def test_the_end_of_an_unknown_session_does_nothing(self) -> None:
        async def scene() -> None:
            async with courier_bench("http://127.0.0.1") as here:
                here.courier.end(EndSession(9, 0))
                assert here.courier.connections == 0

        play(scene)

    def test_a_stop_hangs_up_everywhere_and_leaves_nothing_behind(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as there, courier_bench(f"http://127.0.0.1:{there.port}") as here:
                for session in range(5):
                    here.post(1, session=session)
                await here.wait_for(5)
                here.courier.stop()
                await until(lambda: there.listener.connections == 0)
                assert here.courier.connections == 0
                gc.collect()

        play(scene)


def test_the_words_of_a_refusal_come_back() -> None:
    reason = MessageClass.NACK_BAD_DEST_QUEUE
    _, value = refusal_field(reason, "to: an unknown queue")
    ours = b"HTTP/1.1 400 Bad Request\r\nX-Reliquary-Refusal: " + value + b"\r\nContent-Length: 0\r\n\r\n"
    page = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 10\r\n\r\ngo\r\n away "

    async def scene() -> None:
        async with peer(answering(ours, page)) as there, courier_bench(there.server) as here:
            here.post(1, 2)
            await here.wait_for(2)
            assert [(each.status, each.reason, each.why) for each in here.ended] == [
                (400, reason, "to: an unknown queue"),
                (400, None, "go away"),
            ]

    play(scene)

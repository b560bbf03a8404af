"""Tests the web endpoint of SRMP: what is taken, what is refused with which status, and what it costs."""

from __future__ import annotations

import logging

import pytest

from reliquary.protocols.srmp.events import PostAnswer
from tests.net.http.harness import Wire, chunked, play, post, until, wire
from tests.net.srmp.harness import LARGEST, ServedEndpoint, served_endpoint

QUEUE = "/msmq/private$/orders"
TYPE = "Content-Type: text/xml"


@pytest.mark.spec("SR-001", "SR-002")
def test_a_post_is_handed_on_and_answered_by_a_status_line_alone() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(post(QUEUE, b"<e/>", TYPE))
            assert await client.read() == (200, b"")
            came = here.machine.came[0]
            assert (came.content_type, came.body) == ("text/xml", b"<e/>")
            assert here.receiving.answers == {200: 1}

    play(scene)


@pytest.mark.parametrize(
    ("headers", "hops"),
    [
        ([], 0),
        (["Max-Forwards: 14"], 1),
        (["Max-Forwards: 0"], 15),
        (["Max-Forwards: 15"], 0),
        (["Max-Forwards: 70"], 0),  # of a peer that allows more than we do
        (["Max-Forwards: -1"], 0),
        (["Max-Forwards: " + "9" * 5000], 0),
        (["Max-Forwards: soon"], 0),
    ],
)
def test_max_forwards_says_how_many_managers_passed_it_on(headers: list[str], hops: int) -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(post(QUEUE, b"<e/>", TYPE, *headers))
            assert await client.read() == (200, b"")
            assert [each.hops for each in here.machine.came] == [hops]

    play(scene)


def test_the_trace_of_a_message_comes_with_it_and_a_malformed_one_does_not() -> None:
    context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 a=1"

    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            for fields in (("traceparent: " + context[:55], "tracestate: a=1"), ("traceparent: x",)):
                client.send(post(QUEUE, b"<e/>", TYPE, *fields))
                assert await client.read() == (200, b"")
            assert [each.trace_context for each in here.machine.came] == [context, ""]

    play(scene)


def test_the_address_of_the_sender_comes_with_the_message() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(post(QUEUE, b"<e/>", TYPE))
            assert await client.read() == (200, b"")
            assert [each.peer for each in here.machine.came] == ["127.0.0.1"]

    play(scene)


def test_the_answer_has_no_type_and_no_body() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(post(QUEUE, b"x", "Connection: close"))
            head, _, body = (await client.rest()).partition(b"\r\n\r\n")
            assert body == b""
            assert b"content-length: 0" in head
            assert b"content-type" not in head

    play(scene)


@pytest.mark.parametrize("path", ["/MSMQ/PRIVATE$/q", "/Msmq/q?senderstream=x", "/msmq/private%24/q"])
def test_the_path_is_of_any_case_and_says_nothing_more(path: str) -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(post(path))
            assert (await client.read())[0] == 200

    play(scene)


def test_what_the_machine_says_goes_out() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            for status in (400, 500, 503):
                here.machine.answer = PostAnswer(status, "because")
                client.send(post(QUEUE))
                assert await client.read() == (status, b"")

    play(scene)


def test_pipelined_posts_are_answered_in_their_order() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(b"".join(post(QUEUE, b"%d" % number) for number in range(50)))
            for _ in range(50):
                assert (await client.read())[0] == 200
            assert [int(each.body) for each in here.machine.came] == list(range(50))

    play(scene)


@pytest.mark.srmp("F-01")
def test_another_method_is_405_and_touches_nothing() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            for method in ("GET", "PUT", "OPTIONS", "DELETE"):
                client.send(f"{method} {QUEUE} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n".encode())
                head, body = await _whole(client)
                assert head.startswith(b"HTTP/1.1 405 ")
                assert b"allow: POST" in head
                assert body == b""
            assert not here.machine.came

    play(scene)


async def _whole(client: Wire) -> tuple[bytes, bytes]:
    head = await client._reader.readuntil(b"\r\n\r\n")
    return head, b""


def test_a_listener_of_its_own_has_nothing_else() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(post("/api/v1/queues/orders/messages"))
            assert await client.read() == (404, b"")

    play(scene)


def test_a_body_in_chunks_is_a_body() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(chunked(b"abc", b"def").replace(b"/chunks", QUEUE.encode()))
            assert (await client.read())[0] == 200
            assert here.machine.came[0].body == b"abcdef"

    play(scene)


def test_a_client_that_waits_for_a_go_ahead_gets_it() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            head = f"POST {QUEUE} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
            client.send(f"{head}Content-Length: 3\r\n\r\n".encode())
            assert await client._reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.send(b"abc")
            assert (await client.read())[0] == 200
            assert here.machine.came[0].body == b"abc"

    play(scene)


@pytest.mark.srmp("F-06")
class TestTooMuch:
    """A message over the limit is refused permanently, before it is read."""

    def test_a_length_over_the_limit_is_refused_before_the_body_comes(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                length = LARGEST + 1
                client.send(
                    f"POST {QUEUE} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                    f"Content-Length: {length}\r\n\r\n".encode()
                )
                assert await client.read() == (400, b"")
                assert await client.rest() == b""
                assert not here.machine.came
                assert here.receiving.answers == {400: 1}

        play(scene)

    def test_chunks_without_end_are_cut_off_at_the_limit(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(
                    f"POST {QUEUE} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
                )
                for _ in range(LARGEST // 10_000 + 2):
                    client.send(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
                assert await client.read() == (400, b"")
                assert not here.machine.came

        play(scene)

    def test_a_body_that_came_whole_is_weighed_too(self) -> None:
        async def scene() -> None:
            made = ServedEndpoint()
            made.receiving._largest = 4
            await made.open()
            async with wire(made.port) as client:
                client.send(post(QUEUE, b"12345"))
                assert await client.read() == (400, b"")
                client.send(post(QUEUE, b"1234"))
                assert await client.read() == (200, b"")
            await made.close()

        play(scene)

    def test_the_limit_itself_is_within(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(post(QUEUE, b"x" * LARGEST))
                assert (await client.read())[0] == 200

        play(scene)

    def test_the_listeners_own_limit_holds_elsewhere_even_after_this_post(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(post(QUEUE, b"x" * LARGEST))
                assert (await client.read())[0] == 200
                client.send(post("/elsewhere", b"x" * (LARGEST + 1)))
                assert (await client.read())[0] == 404

        play(scene)

    def test_a_head_over_the_limit_is_400(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(post(QUEUE, b"x", *[f"A{number}: 1" for number in range(200)]))
                assert await client.read() == (400, b"")

        play(scene)


def test_a_slow_client_is_asked_to_come_again() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(f"POST {QUEUE} HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc".encode())
            await until(lambda: here.listener.connections == 1)
            connection = next(iter(here.listener._shared.connections.values()))
            await until(lambda: connection._reader.phase != 0)
            here.listener.sweep(here.listener._clock.monotonic() + 90_000_000)
            assert await client.read() == (503, b"")
            assert not here.machine.came

    play(scene)


@pytest.mark.srmp("F-04")
def test_a_client_that_hangs_up_inside_a_post_leaves_nothing() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            client.send(f"POST {QUEUE} HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc".encode())
            client.shut()
            assert await client.rest() == b""
            assert not here.machine.came

    play(scene)


def test_a_server_that_stops_says_so() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            here.receiving.stop()
            client.send(post(QUEUE))
            assert await client.read() == (503, b"")
            assert not here.machine.came

    play(scene)


def test_an_engine_that_has_stopped_is_503_as_well() -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            here.engine._accepting = False
            client.send(post(QUEUE))
            assert await client.read() == (503, b"")
            here.engine._accepting = True

    play(scene)


def test_a_manager_that_is_not_ready_takes_nothing() -> None:
    async def scene() -> None:
        async with served_endpoint(started=False) as here, wire(here.port) as client:
            client.send(post(QUEUE))
            assert await client.read() == (503, b"")
            assert not here.machine.came

    play(scene)


def test_each_refusal_is_reported_with_its_reason_but_not_again_and_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scene() -> None:
        async with served_endpoint() as here, wire(here.port) as client:
            here.machine.answer = PostAnswer(400, "there is no queue 'orders'")
            for _ in range(5):
                client.send(post(QUEUE))
                assert (await client.read())[0] == 400

    with caplog.at_level(logging.WARNING, "reliquary"):
        play(scene)
    reported = [record.getMessage() for record in caplog.records]
    refused = "SRMP from 127.0.0.1: refused with 400 {} times: there is no queue 'orders'"
    assert reported == [refused.format(1), refused.format(4)] * 2  # the rest is logged at the end

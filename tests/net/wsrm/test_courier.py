"""Tests the courier of WS-RM: what a request looks like, what is kept of a response, and how each POST
ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import product

import pytest

from reliquary.base.time import Duration, seconds
from reliquary.net.http.courier import UNANSWERED
from reliquary.net.http.failures import Failure as HttpFailure
from reliquary.net.wsrm.courier import NO_CREDENTIALS, PIPELINED_BYTES, Courier
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.protocols.wsrm.events import PostAnswer, PostEnded
from reliquary.queueing.travel.failures import Failure
from tests.net.http.harness import play, tick, until
from tests.net.httpr.harness import answering, http, http_chunked, serving, silent
from tests.net.wsrm.harness import LARGEST, served_endpoint
from tests.ports import free_port

ENVELOPE = http(b"<ack/>", b"Content-Type: text/xml; charset=utf-8")
NOTHING = http(b"", status=b"202 Accepted")


class CourierBench:
    """Sends POSTs by a courier, and notes how they ended."""

    def __init__(
        self,
        port: int,
        response_time: Duration = seconds(10),  # noqa: B008
        credentials: Mapping[str, str] = NO_CREDENTIALS,
    ) -> None:
        self.ended: list[PostEnded] = []
        self.url = f"http://127.0.0.1:{port}/wsrm/orders"
        self.courier = Courier(
            self.ended.append, response_time=response_time, largest=LARGEST, credentials=credentials
        )

    def post(self, *tickets: int, connection: int = 1, epoch: int = 0, body: bytes = b"") -> None:
        for ticket in tickets:
            sent = body or b"body %d" % ticket
            self.courier.post(Post(connection, epoch, ticket, self.url, "text/xml", "urn:act", sent))

    async def wait_for(self, count: int) -> None:
        await until(lambda: len(self.ended) >= count)

    @property
    def statuses(self) -> list[tuple[int, int]]:
        """Tickets and statuses, in the order they ended."""
        return [(each.ticket, each.status) for each in self.ended]

    @property
    def failures(self) -> list[tuple[int, Failure | None]]:
        return [(each.ticket, each.failure) for each in self.ended]


@asynccontextmanager
async def courier_bench(port: int, **how: object) -> AsyncIterator[CourierBench]:
    """Yield a courier that is stopped at the end."""
    made = CourierBench(port, **how)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        made.courier.stop()


def courier(credentials: Mapping[str, str] = NO_CREDENTIALS) -> Courier:
    return Courier(lambda _: None, response_time=seconds(1), largest=1, credentials=credentials)


class TestRequests:
    """Tests of the bytes that leave."""

    def test_soap_11_says_its_action_in_a_quoted_header(self) -> None:
        post = Post(1, 0, 1, "http://far.example:81/wsrm/q?x=1", "text/xml", "urn:act", b"<e/>")
        assert courier().encode(post) == (
            b"POST /wsrm/q?x=1 HTTP/1.1\r\n"
            b"host: far.example:81\r\n"
            b"content-type: text/xml\r\n"
            b'SOAPAction: "urn:act"\r\n'
            b"content-length: 4\r\n"
            b"\r\n<e/>"
        )

    def test_soap_12_does_not_have_this_header(self) -> None:
        post = Post(1, 0, 1, "http://far.example/q", 'application/soap+xml; action="urn:act"', "", b"")
        encoded = courier().encode(post)
        assert b'content-type: application/soap+xml; action="urn:act"\r\n' in encoded
        assert b"SOAPAction" not in encoded

    @pytest.mark.parametrize(
        ("action", "written"),
        [
            ("two words", b'"two words"'),
            ('a "b"', b'"a %22b%22"'),
            ("a\\b", b'"a%5Cb"'),
            ("Übung", b'"%C3%9Cbung"'),
            ("a\r\nX: y", b'"a%0D%0AX: y"'),
        ],
    )
    def test_an_action_of_any_characters_is_one_quoted_word(self, action: str, written: bytes) -> None:
        post = Post(1, 0, 1, "http://far.example/q", "text/xml", action, b"")
        assert b"\r\nSOAPAction: " + written + b"\r\n" in courier().encode(post)

    def test_a_token_goes_to_its_server_alone(self) -> None:
        made = courier({"https://far.example": "Bearer secret"})
        for url, shown in (("https://far.example/q", True), ("http://far.example/q", False)):
            encoded = made.encode(Post(1, 0, 1, url, "text/xml", "", b""))
            assert (b"\r\nauthorization: Bearer secret\r\n" in encoded) is shown


class TestResponses:
    """Tests of the events that the machine gets for responses."""

    def test_what_is_posted_arrives_at_an_endpoint_and_its_answer_comes_back(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as there, courier_bench(there.port) as here:
                there.machine.answer = lambda event: PostAnswer(200, "text/xml", b"<r>" + event.body)
                here.post(1, 2, 3)
                await here.wait_for(3)
                assert [each.body for each in here.ended] == [b"<r>body 1", b"<r>body 2", b"<r>body 3"]
                assert here.statuses == [(1, 200), (2, 200), (3, 200)]
                assert here.courier.connections == there.listener.connections == 1
                assert (here.courier.posted, here.courier.answers) == (3, {200: 3})

        play(scene)

    def test_type_and_body_are_kept_with_every_status(self) -> None:
        fault = http(b"<fault/>", b"content-TYPE: text/xml", status=b"500 No")

        async def scene() -> None:
            async with (
                serving(answering(ENVELOPE, NOTHING, fault)) as there,
                courier_bench(there.port) as here,
            ):
                here.post(1, 2, 3)
                await here.wait_for(3)
                assert here.ended == [
                    PostEnded(1, 0, 1, 200, "text/xml; charset=utf-8", b"<ack/>"),
                    PostEnded(1, 0, 2, 202),
                    PostEnded(1, 0, 3, 500, "text/xml", b"<fault/>"),
                ]

        play(scene)

    def test_a_body_in_chunks_is_joined(self) -> None:
        async def scene() -> None:
            async with (
                serving(answering(http_chunked(b"0123456789", 3))) as there,
                courier_bench(there.port) as here,
            ):
                here.post(1)
                await here.wait_for(1)
                assert here.ended[0].body == b"0123456789"

        play(scene)

    @pytest.mark.parametrize("over", [0, 1])
    def test_a_body_over_the_limit_is_not_kept(self, over: int) -> None:
        page = http(b"x" * (LARGEST + over))

        async def scene() -> None:
            async with serving(answering(page, page)) as there, courier_bench(there.port) as here:
                here.post(1, 2)
                await here.wait_for(2)
                if over:
                    assert here.failures == [(1, Failure.LOST), (2, Failure.LOST)]
                    assert f"may have {LARGEST} bytes" in here.ended[0].why
                    assert here.ended[0].body == b""
                else:
                    assert here.statuses == [(1, 200), (2, 200)]

        play(scene)

    def test_connections_to_addresses_have_negative_numbers_and_connections_of_their_own(self) -> None:
        async def scene() -> None:
            async with serving(silent(1), answering(NOTHING)) as there, courier_bench(there.port) as here:
                here.post(1, connection=1)
                await until(lambda: len(there.bodies) == 1)
                here.post(2, connection=-1)
                await here.wait_for(1)
                assert here.ended == [PostEnded(-1, 0, 2, 202)]

        play(scene)


class TestFailures:
    """Tests of POSTs that get no response."""

    def test_every_failure_of_http_has_a_name_of_the_protocol(self) -> None:
        assert set(UNANSWERED) == set(HttpFailure)
        assert set(UNANSWERED.values()) == set(Failure)

    def test_a_server_without_a_listener_is_no_connection(self) -> None:
        async def scene() -> None:
            async with courier_bench(free_port()) as here:
                here.post(1, 2)
                await here.wait_for(2)
                here.post(3)
                assert here.failures == [(ticket, Failure.NO_CONNECTION) for ticket in (1, 2, 3)]
                assert here.courier.failures == {Failure.NO_CONNECTION: 3}

        play(scene)

    def test_a_connection_that_breaks_inside_a_response_loses_all_behind_it(self) -> None:
        cut = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01"

        async def scene() -> None:
            async with serving(answering(cut)) as there, courier_bench(there.port) as here:
                here.post(1, 2)
                await here.wait_for(2)
                assert here.failures == [(1, Failure.LOST), (2, Failure.LOST)]
                assert there.accepted == 1

        play(scene)

    def test_a_connection_that_had_worked_is_replaced_and_the_post_sent_again(self) -> None:
        async def scene() -> None:
            async with (
                serving(answering(NOTHING), answering(NOTHING)) as there,
                courier_bench(there.port) as here,
            ):
                here.post(1)
                await here.wait_for(1)
                here.post(2)
                await here.wait_for(2)
                assert here.statuses == [(1, 202), (2, 202)]
                assert there.accepted == 2

        play(scene)

    def test_a_peer_that_says_nothing_is_too_late(self) -> None:
        async def scene() -> None:
            async with (
                serving(silent(1)) as there,
                courier_bench(there.port, response_time=seconds(0.01)) as here,
            ):
                here.post(1)
                await here.wait_for(1)
                assert here.failures == [(1, Failure.TIMED_OUT)]
                assert here.ended[0].why == "no response within 0.01 s"

        play(scene)

    def test_what_makes_no_request_of_http_is_not_sent(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as there, courier_bench(there.port) as here:
                here.courier.post(Post(1, 0, 1, here.url, "text/ä", "", b""))
                here.courier.post(Post(2, 0, 2, "ftp://far.example", "text/xml", "", b""))
                await here.wait_for(2)
                assert sorted(here.failures) == [(1, Failure.NO_ADDRESS), (2, Failure.NO_ADDRESS)]
                assert not there.machine.came

        play(scene)


class TestEpochs:
    """One TCP connection for each epoch of a number."""

    def test_what_was_hung_up_is_not_reported(self) -> None:
        async def scene() -> None:
            async with serving(silent(1), answering(NOTHING)) as there, courier_bench(there.port) as here:
                here.post(1, epoch=1)
                await until(lambda: there.bodies)
                here.courier.hang_up(HangUp(1, 1))
                here.post(2, epoch=1)
                here.post(3, epoch=2)
                await here.wait_for(1)
                await tick(5)
                assert here.ended == [PostEnded(1, 2, 3, 202)]
                assert here.courier.posted == 2, "nothing is sent in an epoch that is over"

        play(scene)

    def test_much_that_is_unanswered_stops_what_is_behind_it(self) -> None:
        async def scene() -> None:
            async with serving(silent(2)) as there, courier_bench(there.port) as here:
                here.post(1, body=b"x" * PIPELINED_BYTES)
                here.post(2)
                await until(lambda: len(there.bodies) == 1)
                await tick(20)
                assert len(there.bodies) == 1

        play(scene)


def test_a_failure_is_either_sent_or_not() -> None:
    """The machine may tell by the name whether the peer can have seen a request."""
    for one, other in product(HttpFailure, repeat=2):
        if UNANSWERED[one] is UNANSWERED[other]:
            assert one.sent == other.sent


def test_the_trace_of_a_message_stands_in_a_field_of_http() -> None:
    context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    courier = CourierBench(1).courier
    plain = Post(1, 0, 1, "http://b.example/wsrm/q", "text/xml", "", b"<e/>")
    traced = Post(1, 0, 1, "http://b.example/wsrm/q", "text/xml", "", b"<e/>", context)
    field = b"traceparent: %b\r\n" % context.encode()
    assert field in courier.encode(traced)
    assert courier.encode(traced).replace(field, b"") == courier.encode(plain)

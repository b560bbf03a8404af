"""Tests of the web endpoint of our server agent: what it takes, what it refuses and how, who is notified."""

from __future__ import annotations

import logging
from hashlib import sha256
from itertools import pairwise

import pytest

from reliquary.net.identity.users import User
from reliquary.protocols.httpr.codec.headers import read_response
from reliquary.protocols.httpr.codec.values import (
    Carried,
    Command,
    Disposition,
    Error,
    ErrorNumber,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Answer, ConnectionGone, RequestArrived, RequestBegun
from reliquary.queueing.model.message import Message, StoredBody
from reliquary.queueing.model.security.principals import ANONYMOUS
from tests.net.http.harness import play, post, until, wire
from tests.net.httpr.served_agent import H3, H3_HEADER, PULL, ServedAgent, served_agent
from tests.net.identity.cheap_hash import basic, cheap_hash

ORDERS = "/httpr/orders"
TARGET = "target-uri:httpr://yourhost/service#Q1\r\nclass-of-service:assured\r\n"
COMMITTED = b"responder:httpr://yourhost/service\r\noutcome:COMMIT\r\ncompleted:0000000000000001\r\n\r\n"


def later(event: RequestArrived) -> Answer | None:
    """Return None: the answer comes later."""
    del event
    return None


def chunked(body: bytes, *cuts: int) -> bytes:
    """Return a POST whose chunks end at these places."""
    head = f"POST {ORDERS} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    places = [0, *cuts, len(body)]
    parts = [body[start:stop] for start, stop in pairwise(places)]
    return head + b"".join([b"%x\r\n%b\r\n" % (len(part), part) for part in parts]) + b"0\r\n\r\n"


async def exchange(here: ServedAgent, *sent: bytes) -> tuple[bytes, bytes]:
    """Send one request on a connection of its own; return the head and the body of its response."""
    async with wire(here.port) as client:
        for part in sent:
            client.send(part)
        client.shut()
        head, _, body = (await client.rest()).partition(b"\r\n\r\n")
        return head, body


class TestRequests:
    @pytest.mark.spec("HR-005", "HR-007", "HR-008")
    @pytest.mark.httpr("T01", "T03", "H3")
    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param([post(ORDERS, H3)], id="by its length"),
            pytest.param([chunked(H3)], id="one chunk"),
            pytest.param([chunked(H3, 181)], id="two chunks"),
            pytest.param([chunked(H3, *range(1, len(H3)))], id="chunks of one byte"),
            pytest.param([bytes([byte]) for byte in post(ORDERS, H3)], id="byte by byte"),
        ],
    )
    def test_a_push_is_equal_however_it_is_cut(self, sent: list[bytes]) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                head, body = await exchange(here, *sent)
                assert head.startswith(b"HTTP/1.1 200 ")
                assert body == COMMITTED
                (came,) = here.machine.came
                assert came.service == "orders"
                assert came.header is not None
                assert (came.header.command, came.header.transaction_id) == (Command.PUSH, 1)
                assert came.batch == (Carried(TARGET, b"hello"), Carried(TARGET, b"hello world"))
                assert (came.disposition, came.fault, came.by) == (Disposition.LAST, None, ANONYMOUS)

        play(scene)

    @pytest.mark.spec("HR-006")
    @pytest.mark.httpr("T38")
    def test_a_response_may_not_be_cached(self) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                for _ in range(2):
                    head, _ = await exchange(here, post(ORDERS, PULL))
                    assert b"cache-control: no-store" in head
                    assert b"content-type: application/octet-stream" in head
                    assert b"content-length: " in head
                assert len(here.machine.came) == 2

        play(scene)

    @pytest.mark.httpr("T47")
    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
    @pytest.mark.parametrize("body", [b"", b"x" * 50_000])
    def test_another_method_is_405_and_touches_nothing(self, method: str, body: bytes) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                length = f"Content-Length: {len(body)}\r\n" if body else ""
                head, said = await exchange(
                    here, f"{method} {ORDERS} HTTP/1.1\r\nHost: h\r\n{length}\r\n".encode() + body
                )
                assert head.startswith(b"HTTP/1.1 405 ")
                assert b"allow: POST" in head
                assert said == b""
                assert "RequestArrived" not in here.machine.kinds()

        play(scene)

    def test_a_get_leaves_the_connection_as_it_is(self) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                client.send(f"GET {ORDERS} HTTP/1.1\r\nHost: h\r\n\r\n".encode() + post(ORDERS, H3))
                assert (await client.read())[0] == 405
                assert await client.read() == (200, COMMITTED)

        play(scene)

    @pytest.mark.httpr("T47")
    @pytest.mark.parametrize("body", [b"", b"{}", b"hello", b"\r\n\r\n"])
    def test_a_body_that_is_no_httpr_is_519(self, body: bytes) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                await exchange(here, post(ORDERS, body))
                (came,) = here.machine.came
                assert (came.header, came.fault) == (None, ErrorNumber.NOT_HTTP_R)
                assert here.receiving.requests == {None: 1}

        play(scene)

    @pytest.mark.spec("HR-117")
    @pytest.mark.parametrize("cut", [len(H3_HEADER) - 3, len(H3) - 28, len(H3) - 1])
    def test_a_body_that_ends_too_early_is_520(self, cut: int) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                await exchange(here, post(ORDERS, H3[:cut]))
                (came,) = here.machine.came
                assert (came.batch, came.disposition) == ((), None)
                assert came.fault is ErrorNumber.HTTP_R_PROTOCOL_ERROR

        play(scene)

    def test_pipelined_requests_are_reported_and_answered_in_their_order(self) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                body = H3.replace(b"0001", b"%04x")
                client.send(b"".join([post(ORDERS, body % number) for number in range(1, 200)]))
                for number in range(1, 200):
                    status, said = await client.read()
                    assert status == 200
                    assert read_response(said).completed == number
                ids = [each.header.transaction_id for each in here.machine.came if each.header]
                assert ids == list(range(1, 200))
                assert len({each.connection for each in here.machine.came}) == 1

        play(scene)

    def test_a_service_is_what_follows_in_the_path(self) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                for path in ("/httpr/a%20b", "/httpr/private$/q?x=1", "/httpr/"):
                    await exchange(here, post(path, H3))
                assert [each.service for each in here.machine.came] == ["a b", "private$/q", ""]

        play(scene)


class TestHalfARequest:
    @pytest.mark.spec("HR-041")
    def test_a_header_is_reported_when_its_batch_still_comes(self) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                asked = post(ORDERS, H3)
                client.send(asked[:-30])
                await until(lambda: here.machine.kinds() == ["RequestBegun"])
                (begun,) = here.machine.heard
                assert isinstance(begun, RequestBegun)
                client.send(asked[-30:])
                await client.read()
                assert here.machine.kinds() == ["RequestBegun", "RequestArrived"]
                (came,) = here.machine.came
                assert (begun.connection, begun.service) == (came.connection, came.service)
                assert begun.header == came.header

        play(scene)

    @pytest.mark.parametrize("body", [H3, PULL])
    def test_a_request_that_is_whole_is_reported_once(self, body: bytes) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                client.send(chunked(body)[:-5])  # all but the end of the chunks
                client.send(chunked(body)[-5:])
                await client.read()
                assert here.machine.kinds() == ["RequestArrived"]

        play(scene)

    @pytest.mark.spec("HR-117")
    @pytest.mark.httpr("T09")
    @pytest.mark.parametrize("how", ["hangs up", "resets"])
    def test_a_request_that_is_cut_off_is_not_reported(self, how: str) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                async with wire(here.port) as client:
                    client.send(post(ORDERS, H3)[:-1])
                    await until(lambda: here.machine.kinds() == ["RequestBegun"])
                    if how == "hangs up":
                        client.shut()
                        assert await client.rest() == b""
                    else:
                        client._writer.transport.abort()
                await until(lambda: len(here.machine.heard) == 2)
                assert here.machine.kinds() == ["RequestBegun", "ConnectionGone"]
                assert here.machine.heard[1] == ConnectionGone(here.machine.heard[0].connection)  # type: ignore[attr-defined]

        play(scene)

    @pytest.mark.parametrize(
        ("body", "number"),
        [
            (H3.replace(b"message-size:5", b"message-size:999999999"), 521),
            (H3_HEADER + b"message-size:0\r\n\r\n\r\n" * 2000, 522),
            (H3.replace(b"message-size", b"mess"), 520),
        ],
    )
    @pytest.mark.parametrize("whole", [False, True])
    def test_a_fault_is_reported_at_once_and_the_rest_is_not_waited_for(
        self, body: bytes, number: int, whole: bool
    ) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                length = len(body) if whole else 200_000_000
                client.send(f"POST {ORDERS} HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n".encode())
                client.send(body)
                if whole:  # the connection goes on
                    assert (await client.read())[0] == 200
                    client.send(post(ORDERS, H3))
                    assert await client.read() == (200, COMMITTED)
                else:
                    assert b"connection: close" in await client.rest()
                came = here.machine.came[0]
                assert came.header is not None
                assert (came.fault, came.batch) == (number, ())
                assert came.why

        play(scene)


class TestWhoAsks:
    ALICE = User(name="alice", token_sha256=sha256(b"secret").hexdigest())
    EVE = User(name="eve", password_hash=cheap_hash("open sesame"))

    def test_a_token_identifies_its_user_and_a_request_without_one_is_anonymous(self) -> None:
        async def scene() -> None:
            async with served_agent(users=(self.ALICE,)) as here:
                await exchange(here, post(ORDERS, H3, "Authorization: Bearer secret"))
                await exchange(here, post(ORDERS, H3))
                assert [each.by.name for each in here.machine.came] == ["alice", ANONYMOUS.name]

        play(scene)

    @pytest.mark.parametrize("more", ["Authorization: Bearer guess", "Origin: http://elsewhere.example"])
    def test_an_unknown_token_and_a_page_of_another_site_get_525(self, more: str) -> None:
        async def scene() -> None:
            async with served_agent(users=(self.ALICE,)) as here:
                await exchange(here, post(ORDERS, H3, more))
                (came,) = here.machine.came
                assert came.header is not None
                assert (came.fault, came.batch, came.by) == (ErrorNumber.AGENT_SECURITY, (), ANONYMOUS)

        play(scene)

    def test_a_name_and_a_password_say_who_asks(self) -> None:
        async def scene() -> None:
            async with served_agent(users=(self.EVE,)) as here:
                await exchange(here, post(ORDERS, H3, basic("eve", "open sesame")))
                await exchange(here, post(ORDERS, H3, basic("eve", "wrong")))
                right, wrong = here.machine.came
                assert (right.by.name, right.fault) == ("eve", None)
                assert (wrong.by, wrong.fault) == (ANONYMOUS, ErrorNumber.AGENT_SECURITY)
                assert wrong.header is not None

        play(scene)

    def test_without_users_a_token_says_nothing(self) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                await exchange(here, post(ORDERS, H3, "Authorization: Bearer guess"))
                assert (here.machine.came[0].fault, here.machine.came[0].by) == (None, ANONYMOUS)

        play(scene)


class TestNotNow:
    def test_a_manager_that_is_not_ready_is_513(self) -> None:
        async def scene() -> None:
            async with served_agent(started=False) as here:
                await exchange(here, post(ORDERS, H3))
                (came,) = here.machine.came
                assert (came.fault, came.batch) == (ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE, ())

        play(scene)

    def test_a_server_that_stops_is_514(self) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                here.receiving.stop()
                await exchange(here, post(ORDERS, H3))
                (came,) = here.machine.came
                assert (came.fault, came.batch) == (ErrorNumber.RESOURCE_MANAGER_TERMINATING, ())

        play(scene)

    def test_a_server_that_stops_does_not_wait_for_the_rest_of_a_request(self) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                asked = post(ORDERS, H3)
                client.send(asked[:-30])
                await until(lambda: here.machine.kinds() == ["RequestBegun"])
                here.receiving.stop()
                client.send(asked[-30:-10])
                assert b"connection: close" in await client.rest()
                (came,) = here.machine.came
                assert (came.fault, came.batch) == (ErrorNumber.RESOURCE_MANAGER_TERMINATING, ())

        play(scene)

    @pytest.mark.parametrize(
        ("body", "responder"),
        [(H3, "httpr://here.example/httpr/orders"), (PULL, ""), (b"x", "")],
    )
    def test_a_server_whose_engine_stopped_answers_that_it_is_stopping(
        self, body: bytes, responder: str
    ) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                await here.engine.stop()
                client.send(post(ORDERS, body))
                _, said = await client.read()
                header = read_response(said)
                assert header.error == Error.of(ErrorNumber.RESOURCE_MANAGER_TERMINATING)
                assert (header.responder, header.session) == (responder, SessionMark.END)
                assert header.outcome is None  # a REPORT may ask what became of it
                here.engine.stop = _nothing  # type: ignore[method-assign]

        play(scene)

    def test_waiting_clients_get_an_answer_when_the_server_stops(self) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                here.machine.answer = later
                client.send(post(ORDERS, PULL) + post(ORDERS, H3))
                await until(lambda: len(here.machine.came) == 2)
                here.receiving.stop()
                await here.engine.stop()
                here.receiving.finish()
                for _ in range(2):
                    assert read_response((await client.read())[1]).error is not None
                here.engine.stop = _nothing  # type: ignore[method-assign]

        play(scene)


async def _nothing(last: object = None) -> None:
    """Replace `stop` of an engine that has stopped already."""


class TestWaiting:
    @pytest.mark.parametrize("how", ["hangs up", "resets"])
    def test_a_client_that_leaves_its_pull_is_reported_to_the_machine(self, how: str) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                here.machine.answer = later
                async with wire(here.port) as client:
                    client.send(post(ORDERS, PULL))
                    await until(lambda: bool(here.machine.came))
                    if how == "hangs up":
                        client.shut()
                    else:
                        client._writer.transport.abort()
                    await until(lambda: "ConnectionGone" in here.machine.kinds())
                await until(lambda: here.listener.connections == 0)
                gone = ConnectionGone(here.machine.came[0].connection)
                assert {event for event in here.machine.heard if isinstance(event, ConnectionGone)} == {gone}
                assert here.engine._callers == {}

        play(scene)

    def test_a_push_of_a_client_that_shuts_its_side_is_answered(self) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                assert (await exchange(here, post(ORDERS, H3)))[1] == COMMITTED

        play(scene)

    def test_the_end_of_every_connection_is_reported(self) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                await exchange(here, post(ORDERS, H3))
                await until(lambda: here.machine.kinds() == ["RequestArrived", "ConnectionGone"])

        play(scene)


class TestAnswers:
    @staticmethod
    def fetched(*batch: Message) -> Answer:
        return Answer(ResponseHeader(transaction_id=7, outcome=Outcome.COMMIT, completed=0), batch)

    @pytest.mark.parametrize("sizes", [(1, 2), (700_000, 700_000), (3_000_000, 5, 100_000)])
    @pytest.mark.parametrize("version", [b"1.0", b"1.1"])
    def test_a_batch_leaves_at_once_or_bit_by_bit(self, sizes: tuple[int, ...], version: bytes) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                batch = [Message(body=bytes([number]) * size) for number, size in enumerate(sizes)]
                here.machine.answer = lambda _: self.fetched(*batch)
                asked = post(ORDERS, PULL, "Connection: close").replace(b"HTTP/1.1", b"HTTP/" + version)
                client.send(asked)
                said, _, body = (await client.rest()).partition(b"\r\n\r\n")
                small = sum(sizes) < 1_000_000
                assert (b"content-length" in said) is small
                assert (b"chunked" in said) is (not small and version == b"1.1")
                if b"chunked" in said:
                    body = unchunked(body)
                header, _, rest = body.partition(b"\r\n\r\n")
                assert read_response(header + b"\r\n\r\n").transaction_id == 7
                assert rest.endswith(b"\r\npayload-disposition:last\r\n")
                for message in batch:
                    fields, _, rest = rest.partition(b"\r\n\r\n")
                    assert fields.startswith(b"message-size:%d" % len(message.body))
                    assert rest[: len(message.body)] == message.body
                    rest = rest[len(message.body) + 2 :]
                assert here.receiving.messages_out == len(batch)

        play(scene)

    def test_a_response_that_cannot_be_made_to_its_end_is_cut_off(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def scene() -> None:
            async with served_agent() as here, wire(here.port) as client:
                lost = Message.of(stored_body=StoredBody(99, 10, 1))
                here.machine.answer = lambda _: self.fetched(Message(body=b"x" * 100_000), lost)
                client.send(post(ORDERS, PULL))
                assert b"payload-disposition" not in await client.rest()

        with caplog.at_level(logging.WARNING):
            play(scene)
        assert "a response was cut off" in caplog.text

    def test_what_came_and_went_is_counted_and_refusals_are_warned_of(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def scene() -> None:
            async with served_agent() as here:
                await exchange(here, post(ORDERS, H3))
                refused = Answer(
                    ResponseHeader(
                        session=SessionMark.END,
                        outcome=Outcome.ROLLBACK,
                        completed=1,
                        error=Error.of(ErrorNumber.SINK_NOT_KNOWN),
                    ),
                    why="there is no queue Q1",
                )
                here.machine.answer = lambda _: refused
                await exchange(here, post(ORDERS, H3))
                here.machine.answer = lambda _: self.fetched(Message(body=b"a"), Message(body=b"b"))
                await exchange(here, post(ORDERS, PULL))
                receiving = here.receiving
                assert receiving.requests == {Command.PUSH: 2, Command.PULL: 1}
                assert receiving.answers == {0: 2, 518: 1}
                assert (receiving.messages_in, receiving.messages_out) == (2, 2)

        with caplog.at_level(logging.WARNING):
            play(scene)
        assert "HTTPR from 127.0.0.1" in caplog.text
        assert "refused with 518 SINK-NOT-KNOWN" in caplog.text
        assert "there is no queue Q1" in caplog.text


def unchunked(data: bytes) -> bytes:
    """Return the body of a chunked response."""
    body = b""
    while size := int(data.partition(b"\r\n")[0], 16):
        start = data.index(b"\r\n") + 2
        body, data = body + data[start : start + size], data[start + size + 2 :]
    return body

"""Tests the web endpoint of WS-RM: what is taken, what goes back, and what the machine never sees."""

from __future__ import annotations

import asyncio
import logging
import ssl
from hashlib import sha256
from pathlib import Path

import pytest

from reliquary.base.turn import Reply
from reliquary.net.http import Listener
from reliquary.net.identity.users import User
from reliquary.protocols.wsrm.events import PostAnswer, PostArrived
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.queueing.model.security.principals import ANONYMOUS
from tests.net.http.harness import Wire, chunked, echo, everywhere, play, post, tick, until, wire
from tests.net.identity.cheap_hash import basic, cheap_hash
from tests.net.srmp.certificates import Authority, serving
from tests.net.wsrm.harness import CLOSED, LARGEST, ServedEndpoint, served_endpoint

PATH = "/wsrm/orders"
TYPE = "Content-Type: application/soap+xml; charset=utf-8"
EVE = User(name="eve", password_hash=cheap_hash("open sesame"))
ADA = User(name="ada", token_sha256=sha256(b"secret").hexdigest())


def get(target: str, host: str = "mq.example", method: str = "GET") -> bytes:
    return f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


async def whole(client: Wire) -> tuple[bytes, bytes]:
    """Head and body of the response behind which the listener hangs up."""
    head, _, body = (await client.rest()).partition(b"\r\n\r\n")
    return head, body


class TestEnvelopes:
    """POSTs that are handed to the machine, and what goes back."""

    def test_a_post_is_handed_on_and_answered_as_the_machine_says(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                here.machine.answer = lambda _: PostAnswer(200, "text/xml; charset=utf-8", b"<e/>")
                client.send(post(PATH, b"<a/>", TYPE, "Connection: close"))
                head, body = await whole(client)
                assert head.startswith(b"HTTP/1.1 200 ")
                assert b"content-type: text/xml; charset=utf-8" in head
                assert body == b"<e/>"
                [came] = here.machine.came
                assert came.endpoint == "orders"
                assert came.content_type == "application/soap+xml; charset=utf-8"
                assert (came.body, came.by, came.peer, came.secure) == (
                    b"<a/>",
                    ANONYMOUS,
                    "127.0.0.1",
                    False,
                )
                assert here.receiving.answers == {200: 1}

        play(scene)

    def test_an_answer_without_an_envelope_has_no_type(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(post(PATH, b"<a/>", TYPE, "Connection: close"))
                head, body = await whole(client)
                assert head.startswith(b"HTTP/1.1 202 ")
                assert b"content-type" not in head
                assert b"content-length: 0" in head
                assert body == b""

        play(scene)

    @pytest.mark.parametrize(
        ("path", "endpoint"),
        [
            ("/wsrm/private%24/orders", "private$/orders"),
            ("/wsrm/a%20b?x=1", "a b"),
            ("/wsrm/", ""),
        ],
    )
    def test_the_endpoint_is_the_rest_of_the_path(self, path: str, endpoint: str) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(post(path))
                assert (await client.read())[0] == 202
                assert here.machine.came[0].endpoint == endpoint

        play(scene)

    def test_another_path_is_not_ours(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(post("/wsrmx/orders", b"x"))
                assert await client.read() == (200, b"POST /wsrmx/orders x")
                assert not here.machine.came

        play(scene)

    def test_pipelined_posts_are_answered_in_their_order(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                here.machine.answer = lambda event: PostAnswer(200, "text/xml", event.body)
                client.send(b"".join(post(PATH, b"%d" % number) for number in range(50)))
                for number in range(50):
                    assert await client.read() == (200, b"%d" % number)

        play(scene)

    def test_a_body_in_chunks_is_a_body(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(chunked(b"abc", b"def").replace(b"/chunks", PATH.encode()))
                assert (await client.read())[0] == 202
                assert here.machine.came[0].body == b"abcdef"

        play(scene)

    def test_a_request_over_tls_says_so(self, tmp_path: Path) -> None:
        authority = Authority(tmp_path, "ours")
        context = serving(authority.vouch("mq.example"))

        async def scene() -> None:
            made = ServedEndpoint()
            made.listener = Listener((made.receiving.mount(), everywhere(echo)), tls=context)
            await made.open()
            await ask_over_tls(made.port, authority.file, post(PATH))
            assert [came.secure for came in made.machine.came] == [True]
            await made.close()

        play(scene)

    def test_a_refusal_of_the_machine_is_logged_with_its_reason(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                here.machine.answer = lambda _: PostAnswer(500, "text/xml", b"<f/>", "there is no queue")
                client.send(post(PATH))
                assert await client.read() == (500, b"<f/>")
                assert here.receiving.answers == {500: 1}

        with caplog.at_level(logging.WARNING, "reliquary"):
            play(scene)
        logged = [record.getMessage() for record in caplog.records]
        assert logged == ["WS-RM from 127.0.0.1: answered with 500 1 times: there is no queue"] * 2


async def ask_over_tls(port: int, authority: Path, request: bytes) -> None:
    """Send a request, and wait for the beginning of its response."""
    context = ssl.create_default_context(cafile=str(authority))
    reader, writer = await asyncio.open_connection("localhost", port, ssl=context)
    writer.write(request)
    assert (await reader.readline()).startswith(b"HTTP/1.1 202 ")
    writer.close()


class TestHeldResponses:
    """A response that waits for the reply of an application."""

    def test_a_response_leaves_when_the_machine_answers(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client, wire(here.port) as other:
                here.machine.answer = lambda event: None if event.body == b"held" else PostAnswer(202)
                client.send(post(PATH, b"held"))
                await until(lambda: here.machine.came)
                assert here.receiving.waiting == 1
                here.machine.late = [Reply(here.machine.came[0].to, PostAnswer(200, "text/xml", b"<r/>"))]
                other.send(post(PATH, b"next"))
                assert (await other.read())[0] == 202
                assert await client.read() == (200, b"<r/>")
                assert here.receiving.waiting == 0
                assert here.machine.left == []

        play(scene)

    def test_a_client_that_leaves_is_reported_once(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here:
                here.machine.answer = lambda _: None
                async with wire(here.port) as client:
                    client.send(post(PATH, b"held"))
                    await until(lambda: here.machine.came)
                await until(lambda: here.machine.left)
                await tick(5)
                assert here.machine.left == [here.machine.came[0].to]
                assert here.receiving.waiting == 0
                assert not here.engine._callers

        play(scene)

    def test_a_client_that_was_answered_is_not_reported(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here:
                async with wire(here.port) as client:
                    client.send(post(PATH))
                    assert (await client.read())[0] == 202
                await until(lambda: here.listener.connections == 0)
                assert here.machine.left == []

        play(scene)

    def test_a_client_that_leaves_a_stopped_engine_is_not_reported(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here:
                here.machine.answer = lambda _: None
                async with wire(here.port) as client:
                    client.send(post(PATH, b"held"))
                    await until(lambda: here.machine.came)
                    here.engine._accepting = False
                await until(lambda: here.receiving.waiting == 0)
                here.engine._accepting = True
                assert here.machine.left == []

        play(scene)

    def test_a_server_that_has_stopped_answers_those_who_still_wait(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                here.machine.answer = lambda _: None
                client.send(post(PATH, b"held"))
                await until(lambda: here.machine.came)
                here.receiving.finish()
                assert await client.read() == (503, b"the server is stopping\n")
                assert here.receiving.waiting == 0

        play(scene)


class TestDescriptions:
    """What an endpoint says of itself to a tool, and to a person."""

    @pytest.mark.parametrize("query", ["wsdl", "WSDL", "singleWsdl"])
    def test_a_tool_gets_the_description_of_the_endpoint(
        self, query: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[tuple[str, str, EndpointSettings]] = []

        def describe(name: str, url: str, endpoint: EndpointSettings, _: object) -> bytes:
            asked.append((name, url, endpoint))
            return b"<definitions/>"

        monkeypatch.setattr("reliquary.net.wsrm.receiving.wsdl", describe)

        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(get(f"/wsrm/private%24/a%20b?{query}"))
                head, body = await whole(client)
                assert head.startswith(b"HTTP/1.1 200 ")
                assert b"content-type: text/xml; charset=utf-8" in head
                assert body == b"<definitions/>"
                [(name, url, endpoint)] = asked
                assert (name, endpoint.name) == ("private$/a b", "private$/a b")
                assert url == "https://mq.example/wsrm/private$/a%20b"
                assert here.receiving.answers == {200: 1}
                asked.clear()

        play(scene)

    @pytest.mark.parametrize(
        ("host", "origin"),
        [
            pytest.param("mq.example", "https://mq.example", id="our origin, whatever carries it"),
            pytest.param("Other.example:81", "http://other.example:81", id="another name of ours"),
            pytest.param("evil.example", "https://mq.example", id="not our name"),
        ],
    )
    def test_the_wsdl_has_the_address_that_the_client_used_if_the_server_has_it(
        self, host: str, origin: str
    ) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(get(f"{PATH}?wsdl", host))
                _, body = await whole(client)
                assert f'"{origin}{PATH}"'.encode() in body

        play(scene)

    def test_a_person_gets_a_sentence_with_the_address_of_the_description(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(get(PATH))
                head, body = await whole(client)
                assert head.startswith(b"HTTP/1.1 200 ")
                assert b"content-type: text/plain; charset=utf-8" in head
                assert b"https://mq.example/wsrm/orders?wsdl" in body

        play(scene)

    def test_head_is_get_without_a_body(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(get(f"{PATH}?wsdl", method="HEAD"))
                head, body = await whole(client)
                assert head.startswith(b"HTTP/1.1 200 ")
                assert body == b""

        play(scene)

    @pytest.mark.parametrize("path", ["/wsrm/out", "/wsrm/"])
    def test_what_is_no_endpoint_has_no_description(self, path: str) -> None:
        async def scene() -> None:
            async with served_endpoint(settings=CLOSED) as here, wire(here.port) as client:
                client.send(get(f"{path}?wsdl"))
                head, body = await whole(client)
                assert head.startswith(b"HTTP/1.1 404 ")
                assert b"there is no endpoint" in body
                assert here.receiving.answers == {404: 1}

        play(scene)


class TestRefusals:
    """Tests of requests that never reach the machine."""

    def test_another_method_is_405(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here:
                for method in ("PUT", "DELETE", "OPTIONS"):
                    async with wire(here.port) as client:
                        client.send(get(PATH, method=method))
                        head, body = await whole(client)
                        assert head.startswith(b"HTTP/1.1 405 ")
                        assert b"allow: GET, HEAD, POST" in head
                        assert body == f"{method} is not for this path\n".encode()
                assert not here.machine.came
                assert here.receiving.answers == {405: 3}

        play(scene)

    @pytest.mark.parametrize("request_", [post(PATH), get(f"{PATH}?wsdl")], ids=["POST", "GET"])
    def test_an_unknown_token_is_401(self, request_: bytes) -> None:
        request_ = request_.replace(
            b"\r\n\r\n", b"\r\nConnection: close\r\nAuthorization: Bearer wrong\r\n\r\n"
        )

        async def scene() -> None:
            async with served_endpoint(users=(ADA,)) as here, wire(here.port) as client:
                client.send(request_)
                head, _ = await whole(client)
                assert head.startswith(b"HTTP/1.1 401 ")
                assert b'www-authenticate: Bearer realm="reliquary"' in head
                assert not here.machine.came

        play(scene)

    def test_a_user_is_known_by_the_token(self) -> None:
        async def scene() -> None:
            async with served_endpoint(users=(ADA,)) as here, wire(here.port) as client:
                client.send(post(PATH, b"x", "Authorization: Bearer secret"))
                assert (await client.read())[0] == 202
                client.send(post(PATH, b"x"))
                assert (await client.read())[0] == 202
                assert here.machine.came[0].by.name == "ada"
                assert here.machine.came[1].by == ANONYMOUS

        play(scene)

    def test_a_user_is_known_by_name_and_password(self) -> None:
        async def scene() -> None:
            async with served_endpoint(users=(EVE,)) as here, wire(here.port) as client:
                for _ in range(2):
                    client.send(post(PATH, b"x", basic("eve", "open sesame")))
                    assert (await client.read())[0] == 202
                client.send(post(PATH, b"x", basic("eve", "wrong"), "Connection: close"))
                head, _ = await whole(client)
                assert head.startswith(b"HTTP/1.1 401 ")
                assert b"www-authenticate: Basic " in head
                assert [came.by.name for came in here.machine.came] == ["eve", "eve"]

        play(scene)

    def test_a_page_of_another_site_is_403(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(post(PATH, b"x", "Origin: http://evil.example"))
                assert (await client.read())[0] == 403
                assert not here.machine.came

        play(scene)

    def test_a_length_over_the_limit_is_413_before_the_body_comes(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                client.send(
                    f"POST {PATH} HTTP/1.1\r\nHost: h\r\nContent-Length: {LARGEST + 1}\r\n\r\n".encode()
                )
                assert await client.read() == (413, b"")
                assert not here.machine.came
                assert here.receiving.answers == {413: 1}

        play(scene)

    def test_a_body_that_came_with_its_head_has_the_limit_too(self) -> None:
        async def scene() -> None:
            small = WsrmSettings(largest_message=4)
            async with served_endpoint(settings=small) as here, wire(here.port) as client:
                client.send(post(PATH, b"12345"))
                assert (await client.read())[0] == 413
                client.send(post(PATH, b"1234"))
                assert (await client.read())[0] == 202
                assert [came.body for came in here.machine.came] == [b"1234"]

        play(scene)

    def test_a_server_that_stops_is_503(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                here.receiving.stop()
                client.send(post(PATH))
                assert await client.read() == (503, b"the server is stopping\n")
                assert not here.machine.came

        play(scene)

    def test_an_engine_that_has_stopped_is_503(self) -> None:
        async def scene() -> None:
            async with served_endpoint() as here, wire(here.port) as client:
                here.engine._accepting = False
                client.send(post(PATH))
                assert await client.read() == (503, b"the server is stopping\n")
                here.engine._accepting = True
                assert not here.engine._callers

        play(scene)

    def test_a_manager_that_is_not_ready_is_503(self) -> None:
        async def scene() -> None:
            async with served_endpoint(started=False) as here, wire(here.port) as client:
                client.send(post(PATH))
                assert await client.read() == (503, b"the queue manager is not ready\n")
                assert not here.machine.came

        play(scene)


def test_an_answer_of_another_kind_is_an_error_of_ours() -> None:
    made = ServedEndpoint()
    with pytest.raises(AssertionError, match="no answer to a POST"):
        made.receiving._answer(None, PostArrived(1, "", "", b""))  # type: ignore[arg-type]

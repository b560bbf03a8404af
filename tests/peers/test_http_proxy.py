"""Tests the proxy that loses and repeats HTTP messages: it does what its plan says, and counts it."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.peers.http_proxy import HttpProxy, Plan, ProxyAction, every, scripted, seeded


class Echo(ThreadingHTTPServer):
    """Answers each POST with its body, and lists the bodies."""

    daemon_threads = True

    def __init__(self, chunked: bool = False) -> None:
        self.bodies: list[bytes] = []
        self.chunked = chunked
        super().__init__(("127.0.0.1", 0), EchoHandler)


class EchoHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Echo

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        self.send_response(200)
        if self.server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        else:
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Do nothing, so that requests are not logged."""


@contextmanager
def echo(chunked: bool = False) -> Iterator[Echo]:
    server = Echo(chunked)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def post(connection: http.client.HTTPConnection, body: str) -> str:
    """Return the response's body; empty where there was none."""
    try:
        connection.request("POST", "/", body)
        return connection.getresponse().read().decode()
    except (http.client.RemoteDisconnected, ConnectionError):
        connection.close()
        return ""


def run(plan: Plan, bodies: list[str], chunked: bool = False) -> tuple[list[str], list[str], HttpProxy]:
    """Return what came back, what the target received, and the proxy."""
    with echo(chunked) as server, HttpProxy(server.server_address[1], plan) as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port)
        responses = [post(connection, body) for body in bodies]
        connection.close()
    return responses, [body.decode() for body in server.bodies], proxy


@pytest.mark.parametrize(
    ("action", "answered", "seen"),
    [
        pytest.param(ProxyAction.PASS, ["a", "b", "c"], ["a", "b", "c"], id="pass"),
        pytest.param(ProxyAction.LOSE_REQUEST, ["a", "", "c"], ["a", "c"], id="a request is lost"),
        pytest.param(ProxyAction.LOSE_RESPONSE, ["a", "", "c"], ["a", "b", "c"], id="a response is lost"),
        pytest.param(ProxyAction.REPEAT, ["a", "b", "c"], ["a", "b", "b", "c"], id="a request comes twice"),
    ],
)
def test_the_proxy_gives_each_exchange_its_planned_outcome(
    action: ProxyAction, answered: list[str], seen: list[str]
) -> None:
    responses, bodies, proxy = run(scripted({2: action}), ["a", "b", "c"])
    assert (responses, bodies) == (answered, seen)
    assert proxy.counts[action] == (3 if action is ProxyAction.PASS else 1)
    assert proxy.counts.total() == 3


def test_chunked_bodies_pass() -> None:
    assert run(scripted({}), ["first", "second"], chunked=True)[0] == ["first", "second"]


def test_only_requests_with_certain_bytes_are_counted() -> None:
    plan = scripted({2: ProxyAction.LOSE_REQUEST}, containing=b"order")
    assert run(plan, ["order 1", "other", "order 2", "order 3"])[1] == ["order 1", "other", "order 3"]


def test_every_nth_is_lost() -> None:
    plan = every(3, ProxyAction.LOSE_REQUEST, containing=b"order")
    bodies = [f"order {number}" for number in range(1, 8)]
    assert run(plan, ["other", *bodies])[1] == ["other", *(bodies[n] for n in (0, 1, 3, 4, 6))]


def test_a_seed_gives_equal_faults_each_time() -> None:
    def actions(seed: int) -> list[ProxyAction]:
        plan = seeded(seed, {ProxyAction.LOSE_REQUEST: 0.3, ProxyAction.REPEAT: 0.3}, containing=b"order")
        return [plan(b"order") for _ in range(200)]

    assert actions(1) == actions(1) != actions(2)
    assert {*actions(1)} == {ProxyAction.LOSE_REQUEST, ProxyAction.REPEAT, ProxyAction.PASS}
    assert 40 < actions(1).count(ProxyAction.REPEAT) < 80


def test_requests_without_the_bytes_pass_whatever_the_chance() -> None:
    plan = seeded(1, {ProxyAction.LOSE_REQUEST: 1.0}, containing=b"order")
    assert [plan(b"other"), plan(b"order")] == [ProxyAction.PASS, ProxyAction.LOSE_REQUEST]


def test_a_target_that_is_gone_looks_like_a_lost_response() -> None:
    with echo() as server:
        port = server.server_address[1]
    with HttpProxy(port) as proxy:
        assert post(http.client.HTTPConnection("127.0.0.1", proxy.port), "a") == ""


def test_what_goes_wrong_in_a_plan_is_raised_at_the_end() -> None:
    def broken(_request: bytes) -> ProxyAction:
        raise ValueError("a mistake of the test")

    with pytest.raises(ValueError, match="a mistake of the test"):
        run(broken, ["a"])

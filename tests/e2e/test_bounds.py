"""Memory and descriptors of a server stay bounded with unknown clients, and others are served."""

from __future__ import annotations

import json
import socket
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.e2e.memory import MEGABYTE, descriptors_of, growth_of
from tests.e2e.process import ServerProcess


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("bounds") / "store"
    with ServerProcess(folder, "orders").wait_until_ready() as started:
        yield started


def post(server: ServerProcess, path: str, body: bytes) -> tuple[int, str]:
    """Send one request to the data plane; return its status, and the sentence of a refusal."""
    try:
        with urllib.request.urlopen(f"{server.data}/api/v1{path}", body) as answer:
            return answer.status, ""
    except HTTPError as refused:
        return refused.code, json.load(refused)["error"]


def until(true: Callable[[], bool]) -> None:
    """Ask again until the condition is true; a test whose condition never is has to be ended by hand."""
    while not true():
        pass


def connection_to(address: str) -> socket.socket:
    """Return a connection to a plane."""
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)))


def count_refused(clients: list[socket.socket]) -> int:
    """Return how many clients were answered 503 until now; the answers stay unread."""
    count = 0
    for client in clients:
        with suppress(OSError):
            count += b" 503 " in client.recv(200, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return count


def raw(address: str, data: bytes) -> bytes:
    """Send bytes to a plane until it closes or all are sent; what it answered."""
    with connection_to(address) as client:
        with suppress(OSError):  # it may close while we still send
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        answer = b""
        with suppress(OSError):
            while part := client.recv(65536):
                answer += part
        return answer


# Descriptors


@pytest.mark.parametrize("descriptors", [256, pytest.param(1024, marks=pytest.mark.long)])
def test_idle_connections_leave_descriptors_for_the_store_and_for_administrators(
    tmp_path: Path, descriptors: int
) -> None:
    """There are more idle connections than descriptors, and then the store opens files."""
    few = ("bash", "-c", f"ulimit -n {descriptors}; exec {sys.executable} -m reliquary.server")
    with ServerProcess(tmp_path / "store", "orders", command=few).wait_until_ready() as server:
        with ExitStack() as stack:
            for _ in range(descriptors + 100):
                stack.enter_context(connection_to(server.data))
            until(lambda: descriptors_of(server.pid) > descriptors // 3)
            backup = json.dumps({"path": str(tmp_path / "backup")}).encode()
            with urllib.request.urlopen(f"{server.control}/api/v1/store/backup", backup) as answer:
                assert answer.status == 201
            assert descriptors_of(server.pid) <= descriptors // 2
        until(lambda: post(server, "/queues/orders/messages", b"{}")[0] == 201)
        assert server.stop() == 0


# Heads


@pytest.mark.parametrize("plane", ["data", "control"])
@pytest.mark.parametrize("megabytes", [16, pytest.param(200, marks=pytest.mark.long)])
def test_a_head_without_end_is_cut_off_on_both_planes(
    server: ServerProcess, plane: str, megabytes: int
) -> None:
    head = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * megabytes * MEGABYTE
    with growth_of(server.pid) as growth:
        answer = raw(getattr(server, plane), head + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert growth.megabytes < 8


# Bodies and answers of all connections together


@pytest.mark.parametrize(
    ("clients", "size", "limit"),
    [
        pytest.param(20, 4, 8, id="20 clients, 4 MB each"),
        pytest.param(15, 90, 512, id="15 clients, 90 MB each", marks=pytest.mark.long),
    ],
)
class TestTogether:
    """More clients than the budget has room for, each with a large message."""

    def test_bodies_that_are_not_whole_stay_within_their_budget(
        self, tmp_path: Path, clients: int, size: int, limit: int
    ) -> None:
        settings = {"LIMITS_BODY_MEMORY": str(limit * MEGABYTE)}
        part = b'{"text":"' + b"x" * (size * MEGABYTE - 100_000)
        head = (
            b"POST /api/v1/queues/orders/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
        )
        with ServerProcess(tmp_path / "s", "orders", settings=settings).wait_until_ready() as server:
            with growth_of(server.pid) as growth, ExitStack() as stack:
                opened = [stack.enter_context(connection_to(server.data)) for _ in range(clients)]
                for each in opened:
                    with suppress(OSError):  # refused while it sends
                        each.sendall(head % (size * MEGABYTE) + part)
                until(lambda: count_refused(opened) >= clients - limit // (size - 1))
                assert post(server, "/queues/orders/messages", b"{}")[0] == 201
            assert growth.megabytes < limit * 1.3 + 30  # what a growing array has in reserve
            assert post(server, "/queues/orders/messages", part + b'"}')[0] == 201

    def test_answers_that_are_not_taken_stay_within_their_budget(
        self, tmp_path: Path, clients: int, size: int, limit: int
    ) -> None:
        settings = {"LIMITS_ANSWER_MEMORY": str(limit * MEGABYTE)}
        ask = b"POST /api/v1/queues/orders/peek HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"
        with ServerProcess(tmp_path / "s", "orders", settings=settings).wait_until_ready() as server:
            body = b'{"text":"' + b"x" * (size * MEGABYTE - 100_000) + b'"}'
            for _ in range(2):
                assert post(server, "/queues/orders/messages", body)[0] == 201
            with growth_of(server.pid) as growth, ExitStack() as stack:
                opened = [stack.enter_context(connection_to(server.data)) for _ in range(clients)]
                for each in opened:
                    each.sendall(ask * 4)
                until(lambda: count_refused(opened) >= clients - 2 * limit // size)
                assert post(server, "/queues/orders/messages", b"{}")[0] == 201
            assert growth.megabytes < limit * 1.3 + 3 * size + 30
            until(lambda: post(server, "/queues/orders/peek", b"{}")[0] == 200)


# Lists


@pytest.mark.parametrize("item", [b"{},", b'{"text":""},', b'"",', b"[],"])
def test_a_list_of_a_million_items_is_refused_before_it_is_decoded(
    server: ServerProcess, item: bytes
) -> None:
    body = b"[" + item * 1_000_000 + b"{}]"
    assert post(server, "/queues/orders/messages", b"{}")[0] == 201
    with growth_of(server.pid) as growth:
        status, why = post(server, "/queues/orders/messages", body)
    assert status == 400
    assert "one request" in why or "Expected" in why
    assert growth.megabytes < 3 * len(body) / MEGABYTE + 20
    assert post(server, "/queues/orders/messages", b"[{},{}]")[0] == 201

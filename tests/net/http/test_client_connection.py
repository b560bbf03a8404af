"""Tests one connection of the client, on a recording transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.net.http.client_connection import INTERIM_LIMIT, ClientConnection, Response
from reliquary.net.http.failures import BadResponse, ConnectionLost, RequestFailed
from tests.net.http.harness import RecordingTransport, play

INTERIM = b"HTTP/1.1 102 Processing\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nX-Name: a\r\ncontent-length: 2\r\n\r\nok"


def dial(*, head_bytes: int = 1000, body_bytes: int = 1000) -> tuple[ClientConnection, RecordingTransport]:
    connection, transport = ClientConnection(head_bytes, body_bytes, lambda _: None), RecordingTransport()
    connection.connection_made(transport)
    return connection, transport


def ask(connection: ClientConnection) -> asyncio.Future[Response]:
    answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
    connection.send(b"GET / HTTP/1.1\r\n\r\n", answer)
    return answer


def in_loop(scene: Callable[[], None]) -> None:
    async def act() -> None:
        scene()

    play(act)


def test_an_answer_reaches_the_one_who_asked_wherever_it_is_cut() -> None:
    def scene() -> None:
        for cut in range(1, len(ANSWER)):
            connection, transport = dial()
            answer = ask(connection)
            connection.data_received(ANSWER[:cut])
            assert not answer.done()
            connection.data_received(ANSWER[cut:])
            response = answer.result()
            assert (response.status, response.body) == (200, b"ok")
            assert response.header(b"x-name") == b"a"
            assert connection.usable
            assert connection.used
            assert transport.writes == [b"GET / HTTP/1.1\r\n\r\n"]

    in_loop(scene)


def test_pipelined_answers_go_to_their_askers_in_order() -> None:
    def scene() -> None:
        connection, _ = dial()
        first, second = ask(connection), ask(connection)
        connection.data_received(ANSWER + ANSWER.replace(b"200 OK", b"404 No"))
        assert (first.result().status, second.result().status) == (200, 404)

    in_loop(scene)


def test_a_peer_that_sends_interim_answers_without_end_is_cut_off() -> None:
    def scene() -> None:
        connection, transport = dial()
        answer = ask(connection)
        connection.data_received(INTERIM * INTERIM_LIMIT)
        assert not answer.done()
        connection.data_received(INTERIM * 10_000)
        assert transport.was_cut()
        with pytest.raises(BadResponse, match=f"more than {INTERIM_LIMIT} interim answers"):
            answer.result()

    in_loop(scene)


def test_interim_answers_are_counted_for_each_answer() -> None:
    def scene() -> None:
        connection, _ = dial()
        for _ in range(3):
            answer = ask(connection)
            connection.data_received(INTERIM * INTERIM_LIMIT + ANSWER)
            assert answer.result().status == 200

    in_loop(scene)


@pytest.mark.parametrize("coding", [b"gzip, chunked", b"gzip", b"chunked, gzip"])
def test_an_answer_in_a_transfer_coding_other_than_chunked_is_bad(coding: bytes) -> None:
    def scene() -> None:
        connection, transport = dial()
        answer = ask(connection)
        connection.data_received(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding + b"\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        )
        assert transport.was_cut()
        with pytest.raises(BadResponse):
            answer.result()

    in_loop(scene)


def test_interim_answers_are_passed_over() -> None:
    def scene() -> None:
        connection, _ = dial()
        answer = ask(connection)
        connection.data_received(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX-Name: b\r\n\r\n" + ANSWER
        )
        assert answer.result().headers == [(b"x-name", b"a"), (b"content-length", b"2")]

    in_loop(scene)


def test_a_chunked_answer_is_joined_and_its_trailers_dropped() -> None:
    def scene() -> None:
        connection, _ = dial()
        answer = ask(connection)
        connection.data_received(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n"
        )
        connection.data_received(b"1\r\nd\r\n0\r\nX-After: 1\r\n\r\n")
        assert answer.result().body == b"abcd"
        assert answer.result().header(b"x-after") is None

    in_loop(scene)


def test_an_answer_may_end_with_the_connection() -> None:
    def scene() -> None:
        connection, _ = dial()
        answer = ask(connection)
        connection.data_received(b"HTTP/1.0 200 OK\r\n\r\nall ")
        connection.data_received(b"of it")
        connection.connection_lost(None)
        assert answer.result().body == b"all of it"

    in_loop(scene)


def test_an_answer_without_end_that_is_reset_is_lost() -> None:
    def scene() -> None:
        connection, _ = dial()
        answer = ask(connection)
        connection.data_received(b"HTTP/1.0 200 OK\r\n\r\nhalf")
        connection.connection_lost(ConnectionResetError("reset"))
        assert isinstance(answer.exception(), ConnectionLost)

    in_loop(scene)


@pytest.mark.parametrize(
    ("came", "began"), [(b"", False), (ANSWER[:-1], True), (b"H", True)], ids=["none", "most", "a byte"]
)
def test_a_lost_connection_tells_whether_an_answer_had_begun(came: bytes, began: bool) -> None:
    def scene() -> None:
        connection, _ = dial()
        first, second = ask(connection), ask(connection)
        if came:
            connection.data_received(came)
        connection.connection_lost(None)
        reported = [one.exception() for one in (first, second)]
        assert [one.began for one in reported if isinstance(one, ConnectionLost)] == [began, False]
        assert not connection.usable

    in_loop(scene)


def test_an_answer_that_closes_ends_the_connection_and_loses_those_behind() -> None:
    def scene() -> None:
        connection, transport = dial()
        first, second = ask(connection), ask(connection)
        connection.data_received(ANSWER.replace(b"X-Name: a", b"Connection: close"))
        assert first.result().status == 200
        assert isinstance(second.exception(), ConnectionLost)
        assert transport.aborted
        assert not connection.usable

    in_loop(scene)


@pytest.mark.parametrize(
    "came",
    [
        pytest.param(b"nonsense\r\n\r\n", id="not HTTP"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n" + b"x" * 1001, id="body"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7d1\r\n" + b"x" * 1001, id="chunks"
        ),
        pytest.param(ANSWER + ANSWER, id="more than was asked"),
    ],
)
def test_a_bad_answer_ends_the_connection(came: bytes) -> None:
    def scene() -> None:
        connection, transport = dial()
        answer = ask(connection)
        connection.data_received(came)
        assert isinstance(answer.exception(), BadResponse) or came.startswith(ANSWER)
        assert transport.aborted
        assert not connection.usable

    in_loop(scene)


@pytest.mark.parametrize(
    "opening",
    [
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 ",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: ",
    ],
    ids=["header", "status", "trailer"],
)
def test_a_line_without_end_is_cut_off(opening: bytes) -> None:
    def scene() -> None:
        connection, transport = dial()
        answer = ask(connection)
        connection.data_received(opening)
        for _ in range(11):
            connection.data_received(b"x" * 100)
        assert isinstance(answer.exception(), BadResponse)
        assert transport.aborted

    in_loop(scene)


def test_a_large_body_in_many_reads_is_no_line_without_end() -> None:
    def scene() -> None:
        connection, _ = dial(head_bytes=100, body_bytes=100_000)
        answer = ask(connection)
        connection.data_received(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(90):
            connection.data_received(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
        connection.data_received(b"0\r\n")
        connection.data_received(b"\r\n")
        assert len(answer.result().body) == 90_000

    in_loop(scene)


def test_a_peer_that_answers_without_a_request_is_disconnected() -> None:
    def scene() -> None:
        connection, transport = dial()
        connection.data_received(b"HTTP/1.1 408 Late\r\n\r\n")
        assert transport.aborted
        assert not connection.usable

    in_loop(scene)


def test_a_peer_that_goes_on_in_another_protocol_is_not_followed() -> None:
    def scene() -> None:
        connection, transport = dial()
        first, second = ask(connection), ask(connection)
        connection.data_received(b"HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n")
        assert isinstance(first.exception(), BadResponse)
        assert isinstance(second.exception(), ConnectionLost)
        assert transport.aborted

    in_loop(scene)


PIECES = st.sampled_from(
    [
        ANSWER,
        b"HTTP/1.1 ",
        b"200 OK\r\n",
        b"\r\n",
        b"content-length: 3\r\n",
        b"abc",
        b"1\r\nx\r\n",
        b"0\r\n\r\n",
        b"transfer-encoding: chunked\r\n",
        b"connection: upgrade\r\nupgrade: x\r\n",
        b"HTTP/1.1 101 Go\r\n\r\n",
    ]
)


@given(st.lists(PIECES | st.binary(max_size=30), max_size=10))
def test_whatever_bytes_come_all_callers_that_wait_are_notified(pieces: list[bytes]) -> None:
    async def scene() -> None:
        connection, transport = dial()
        answers = [ask(connection), ask(connection)]
        for piece in pieces:
            if connection.usable:
                connection.data_received(piece)
        connection.connection_lost(None)
        assert all(one.done() for one in answers)
        failures = [one.exception() for one in answers]
        assert all(one is None or isinstance(one, RequestFailed) for one in failures)
        assert transport.writes

    asyncio.run(scene())

"""Tests that responses are written as the right bytes."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.net.http.headers import end_of_head
from reliquary.net.http.response import (
    CLOSE,
    CLOSE_OLD,
    HEAD_ONLY,
    JSON,
    KEEP,
    KEEP_SAID,
    ResponseHeads,
    error_body,
)
from tests.net.http.harness import NOON

DATE = b"date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"


def test_a_response_is_one_piece() -> None:
    assert ResponseHeads(NOON).response(KEEP, 200, b"{}", JSON, ()) == (
        b"HTTP/1.1 200 OK\r\n" + DATE + b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    )


def test_the_date_is_renewed() -> None:
    heads = ResponseHeads(NOON)
    heads.response(KEEP, 200, b"", JSON, ())
    assert heads.plain
    heads.renew(Instant(NOON + 1_000_000))
    assert b"22:13:21 GMT" in heads.response(KEEP, 200, b"", JSON, ())


def test_what_has_a_body_is_kept_for_joining_without_its_own_headers() -> None:
    heads = ResponseHeads(NOON)
    heads.response(KEEP | HEAD_ONLY, 200, b"", JSON, ())
    heads.response(KEEP, 204, b"", JSON, ())
    assert heads.plain == {}
    for _ in range(2):
        assert b"\r\na: 1\r\n" in heads.response(KEEP, 200, b"", JSON, [(b"a", b"1")])
    whole = heads.response(KEEP, 200, b"hello", JSON, ())
    assert heads.plain[KEEP, 200, JSON] + end_of_head(5) + b"hello" == whole


@pytest.mark.parametrize(("mode", "framing"), [(KEEP, b"transfer-encoding: chunked\r\n"), (CLOSE_OLD, b"")])
def test_a_response_of_unknown_length_comes_in_chunks_or_until_the_end(mode: int, framing: bytes) -> None:
    opened = ResponseHeads(NOON).opening(mode, 200, JSON, [(b"a", b"1")])
    assert opened.endswith(b"content-type: application/json\r\n" + framing + b"a: 1\r\n\r\n")
    assert (b"connection: close" in opened) is (mode == CLOSE_OLD)


@pytest.mark.parametrize(
    ("mode", "line"),
    [(KEEP, None), (KEEP_SAID, b"connection: keep-alive"), (CLOSE, b"connection: close")],
    ids=["1.1 stays open", "1.0 stays open", "closes"],
)
def test_how_the_connection_goes_on_is_said_where_it_must(mode: int, line: bytes | None) -> None:
    lines = ResponseHeads(NOON).response(mode, 200, b"", JSON, ()).split(b"\r\n")
    assert [one for one in lines if one.startswith(b"connection")] == ([line] if line else [])


def test_more_headers_stand_before_the_body() -> None:
    sent = ResponseHeads(NOON).response(KEEP, 201, b"x", b"text/plain", [(b"location", b"/q")])
    assert sent.endswith(b"content-type: text/plain\r\ncontent-length: 1\r\nlocation: /q\r\n\r\nx")


def test_head_tells_the_length_and_sends_no_body() -> None:
    sent = ResponseHeads(NOON).response(KEEP | HEAD_ONLY, 200, b"hello", JSON, ())
    assert sent.endswith(b"content-length: 5\r\n\r\n")


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_body_has_no_length_either(status: int) -> None:
    sent = ResponseHeads(NOON).response(KEEP, status, b"ignored", b"", ())
    assert sent.endswith(DATE + b"\r\n")


def test_an_unknown_status_has_no_reason() -> None:
    assert ResponseHeads(NOON).response(KEEP, 299, b"", b"", ()).startswith(b"HTTP/1.1 299 \r\n")


@pytest.mark.parametrize("status", [100, 199, 600, 0])
def test_a_status_that_ends_no_request_is_refused(status: int) -> None:
    with pytest.raises(UsageError, match=f"not {status}"):
        ResponseHeads(NOON).response(KEEP, status, b"", b"", ())


def test_an_error_is_a_sentence_in_json() -> None:
    assert error_body('a "name"') == b'{"error": "a \\"name\\""}'

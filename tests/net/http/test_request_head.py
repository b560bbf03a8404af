"""Tests the heads of outgoing requests."""

from __future__ import annotations

import httptools
import pytest

from reliquary.base.faults import UsageError
from reliquary.net.http.request_head import (
    LAST_CHUNK,
    authorization,
    chunk,
    encode_chunked_head,
    encode_request,
    target_and_host,
)


def test_head_and_body_are_one_piece() -> None:
    assert encode_request("POST", "/q?a=1", b"host:80", ((b"x-a", b"1"),), b"hello") == (
        b"POST /q?a=1 HTTP/1.1\r\nhost: host:80\r\nx-a: 1\r\ncontent-length: 5\r\n\r\nhello"
    )


def test_a_get_without_body_has_no_length_and_a_post_has() -> None:
    assert encode_request("GET", "/", b"h", (), b"") == b"GET / HTTP/1.1\r\nhost: h\r\n\r\n"
    assert encode_request("POST", "/", b"h", (), b"").endswith(b"content-length: 0\r\n\r\n")


def test_what_stands_behind_the_length_stands_there() -> None:
    sent = encode_request("POST", "/q", b"", ((b"Host", b"h"),), b"abc", b"SOAPAction: x\r\nY: z\r\n")
    assert sent == b"POST /q HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nSOAPAction: x\r\nY: z\r\n\r\nabc"


def test_the_caller_may_name_another_host() -> None:
    sent = encode_request("GET", "/", b"h", ((b"Host", b"other"),), b"")
    assert sent == b"GET / HTTP/1.1\r\nHost: other\r\n\r\n"


@pytest.mark.parametrize(
    ("url", "target", "host"),
    [
        ("http://h/q", "/q", b"h"),
        ("https://h:81/a/b?c=d#e", "/a/b?c=d", b"h:81"),
        ("http://user@h", "/", b"h"),
    ],
)
def test_a_url_says_what_is_asked_for_and_whom(url: str, target: str, host: bytes) -> None:
    assert target_and_host(url) == (target, host)


def test_an_authorization_is_shown_to_its_server_alone() -> None:
    credentials = {"https://h:81": "Bearer secret"}
    assert authorization("https://h:81/q", credentials) == ((b"authorization", b"Bearer secret"),)
    for other in ("https://h/q", "http://h:81/q", "https://h:81.example/q"):
        assert authorization(other, credentials) == ()


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        pytest.param("GE T", "/", (), id="method with a space"),
        pytest.param("", "/", (), id="no method"),
        pytest.param("GET", "q", (), id="path without a slash"),
        pytest.param("GET", "/a b", (), id="path with a space"),
        pytest.param("GET", "/é", (), id="path that is not encoded"),
        pytest.param("GET", "/\r\nx: y", (), id="path with a line break"),
        pytest.param("GET", "/", ((b"a", b"1\r\nb: 2"),), id="header with a line break"),
        pytest.param("GET", "/", ((b"Content-Length", b"1"),), id="length by the caller"),
        pytest.param("GET", "/", ((b"transfer-encoding", b"chunked"),), id="encoding by the caller"),
    ],
)
def test_what_would_not_be_one_request_is_refused(
    method: str, path: str, headers: tuple[tuple[bytes, bytes], ...]
) -> None:
    with pytest.raises(UsageError):
        encode_request(method, path, b"h", headers, b"")


def test_a_chunked_head_says_so_and_has_no_length() -> None:
    head = encode_chunked_head("POST", "/q", b"h", ((b"X-Name", b"a"),))
    assert head == b"POST /q HTTP/1.1\r\nhost: h\r\nX-Name: a\r\ntransfer-encoding: chunked\r\n\r\n"


def test_chunks_are_read_as_they_were_written() -> None:
    came: list[bytes] = []

    class Reads:
        def on_body(self, data: bytes) -> None:
            came.append(data)

        def on_message_complete(self) -> None:
            came.append(b"end")

    parser = httptools.HttpRequestParser(Reads())
    parser.feed_data(encode_chunked_head("POST", "/q", b"h", ()))
    parser.feed_data(chunk(b"hello") + chunk(b"x" * 300) + LAST_CHUNK)
    assert came == [b"hello", b"x" * 300, b"end"]


def test_an_empty_chunk_would_end_the_body() -> None:
    with pytest.raises(AssertionError, match="last one"):
        chunk(b"")

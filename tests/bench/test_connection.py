"""Tests answers as they come over a connection: with a length, and in chunks."""

from __future__ import annotations

import pytest

from bench.connection import body_of

LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 5"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("head", "sent", "body"),
    [
        (LENGTH, b"hello", b"hello"),
        (b"HTTP/1.1 204 No Content", b"", b""),
        (CHUNKED, b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", b"hello"),
        (CHUNKED, b"9\r\na\r\n0\r\n\r\nb\r\n0\r\n\r\n", b"a\r\n0\r\n\r\nb"),
    ],
)
def test_a_body_is_there_when_its_last_byte_has_come(head: bytes, sent: bytes, body: bytes) -> None:
    for end in range(len(sent)):
        assert body_of(bytearray(head + b"\r\n\r\n" + sent[:end]), len(head)) is None
    assert body_of(bytearray(head + b"\r\n\r\n" + sent), len(head)) == body

"""Tests that requests are written as the right bytes."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.httpr.outgoing import chunked_head, pieces, whole
from reliquary.protocols.httpr.codec.reader import (
    BatchEnded,
    HeaderRead,
    LargeBegun,
    LargeEnded,
    LargePiece,
    RequestReader,
)
from reliquary.protocols.httpr.codec.values import Carried, Disposition
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.queueing.model.message import Message, StoredBody
from tests.net.httpr.harness import LIMITS, PULL, push

URL = "http://beta.example:81/httpr/orders"
HEAD = b"POST /httpr/orders HTTP/1.1\r\nhost: beta.example:81\r\ncontent-type: application/octet-stream\r\n"


def came(text: str, body: bytes) -> Message:
    """Return a message that goes on as it came."""
    return Message.of(carrier_header=text, body=body)


def asked(*batch: Message) -> SendRequest:
    return SendRequest(1, 1, 1, URL, push(1), batch)


@pytest.mark.httpr("H5")
@pytest.mark.spec("HR-003", "HR-005", "HR-033")
def test_a_push_is_a_post_with_its_batch_and_terminator() -> None:
    body = (
        b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000001\r\n\r\n"
        b"message-size:5\r\napp-x:1\r\n\r\nhello\r\npayload-disposition:last\r\n"
    )
    assert (
        whole(asked(came("app-x:1\r\n", b"hello")), "")
        == HEAD + b"content-length: %d\r\n\r\n" % len(body) + body
    )


@pytest.mark.httpr("H8")
def test_a_pull_has_no_batch_and_no_terminator() -> None:
    body = b"request:PULL HTTPR/1.0\r\nsessionid:1\r\noutcome:COMMIT\r\ncompleted:0000000000000000\r\n\r\n"
    assert whole(SendRequest(1, 1, 1, URL, PULL), "") == HEAD + b"content-length: 83\r\n\r\n" + body


@pytest.mark.parametrize(
    ("url", "start"),
    [
        ("http://h", b"POST / HTTP/1.1\r\nhost: h\r\n"),
        ("http://me:secret@h:81/a?b=c#d", b"POST /a?b=c HTTP/1.1\r\nhost: h:81\r\n"),
        ("https://[::1]:81/a", b"POST /a HTTP/1.1\r\nhost: [::1]:81\r\n"),
    ],
)
def test_the_url_says_whom_and_what(url: str, start: bytes) -> None:
    assert whole(SendRequest(1, 1, 1, url, PULL), "").startswith(start)


@pytest.mark.parametrize("url", ["http://h/a b", "http://h/\r\nx: y", "http://h\u00e4/"])
def test_a_url_that_would_break_the_head_is_refused(url: str) -> None:
    with pytest.raises((UsageError, UnicodeError)):
        whole(SendRequest(1, 1, 1, url, PULL), "")


class TestPieces:
    """A request with large bodies is written in pieces, with bytes equal to the whole."""

    STORE = ((b"a" * 100_000, b"b" * 100_000, b"c"), (b"d" * 200_000,))

    def read(self, spool: int, index: int) -> bytes:
        return self.STORE[spool - 1][index]

    def test_what_arrives_is_what_was_stored(self) -> None:
        first, second = StoredBody(1, 200_001, 3), StoredBody(2, 200_000, 1)
        request = asked(
            came("app-x:0\r\n", b"small"),
            Message.of(carrier_header="app-x:1\r\n", stored_body=first),
            Message.of(carrier_header="app-x:2\r\n", stored_body=second),
            came("app-x:3\r\n", b"small too"),
        )
        assert chunked_head(request) == HEAD + b"transfer-encoding: chunked\r\n\r\n"
        sent = list(pieces(request, "", self.read))
        assert all(sent)
        assert max(map(len, sent)) < 201_000
        reader = RequestReader(lambda _: LIMITS)
        read = reader.feed(b"".join(sent))
        reader.end()
        assert isinstance(read[0], HeaderRead)
        assert read[0].header == request.header
        carried = [each for each in read if isinstance(each, Carried)]
        assert [(each.header, each.body) for each in carried] == [
            ("app-x:0\r\n", b"small"),
            ("app-x:1\r\n", b"".join(self.STORE[0])),
            ("app-x:2\r\n", b"".join(self.STORE[1])),
            ("app-x:3\r\n", b"small too"),
        ]
        assert read[-1] == BatchEnded(Disposition.LAST)

    def test_a_very_large_one_is_read_as_very_large(self) -> None:
        data = b"x" * 300_000
        request = asked(Message.of(stored_body=StoredBody(1, 1_500_000, 5)))
        reader = RequestReader(lambda _: LIMITS)
        read = [each for piece in pieces(request, "", lambda *_: data) for each in reader.feed(piece)]
        reader.end()
        assert isinstance(read[1], LargeBegun)
        assert b"".join(each.data for each in read if isinstance(each, LargePiece)) == data * 5
        assert isinstance(read[-2], LargeEnded)

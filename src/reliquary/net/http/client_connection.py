"""Implements one connection of the client: it sends requests, and gives answers to their callers in order.

    waiting   [future] [future] ...      the first one gets the next answer

A connection is either good or finished: after a lost answer, a cancelled request or an unexpected
answer, answers can no longer be matched with requests, so it is cut and never used again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import httptools

from reliquary.net.http.failures import BadResponse, ConnectionLost, RequestFailed
from reliquary.net.http.headers import CHUNKED, CODING_LENGTH, TRANSFER_ENCODING, Headers, find, lowered
from reliquary.net.tcp.dialing import OutgoingConnection

INTERIM_LIMIT: Final = 16
"""The most interim answers (1xx) before an answer; more of them would only cost time."""
_READ_TO_THE_END: Final = (b"content-length", TRANSFER_ENCODING)


class Response:
    """An answer: its status, headers and body."""

    __slots__ = ("_raw", "body", "status")

    def __init__(self, status: int, raw_headers: Headers, body: bytes) -> None:
        self.status = status
        self.body = body
        self._raw = raw_headers

    @property
    def headers(self) -> Headers:
        """All fields in the order in which they came, with names in lower case."""
        return lowered(self._raw)

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header, or None; `name` is in lower case."""
        return find(self._raw, name)

    def __repr__(self) -> str:
        return f"<Response {self.status} {len(self.body)} bytes>"


class ClientConnection(OutgoingConnection):
    """The protocol between one socket and the requests in flight on it."""

    __slots__ = (
        "_began",
        "_body",
        "_body_bytes",
        "_fed",
        "_head_bytes",
        "_headers",
        "_in_body",
        "_interim",
        "_moved",
        "_on_lost",
        "_parser",
        "_waiting",
        "busy",
        "idle_since",
        "used",
        "without_bodies",
    )

    def __init__(self, head_bytes: int, body_bytes: int, on_lost: Callable[[ClientConnection], None]) -> None:
        super().__init__()
        self._head_bytes = head_bytes
        self._body_bytes = body_bytes
        self._on_lost = on_lost
        self._parser = httptools.HttpResponseParser(self)
        self._waiting: deque[Any] = deque()
        """The futures of answers; for a streamed connection, its sinks."""
        self.busy = 0
        """The number of requests that are assigned to this connection, sent or about to be."""
        self.used = False
        """Whether an answer has come over it: since then the peer may have closed it without a notice."""
        self.without_bodies = False
        """Whether it is for HEAD, whose answer describes a body that does not come."""
        self.idle_since = 0.0
        """The time since when it is idle, in the loop's time."""
        self._began = False
        self._interim = 0
        self._next_answer()

    def _next_answer(self) -> None:
        self._headers: Headers = []
        self._body: bytes | bytearray = b""
        self._in_body = False
        self._fed = 0  # bytes that came since the parser last made progress
        self._moved = True

    def send(self, data: bytes, answer: asyncio.Future[Response]) -> None:
        """Send a request, head and body in one write."""
        assert self._transport is not None, "a request goes over a connection that is open"
        assert self.usable, "a request goes over a connection that is good"
        self._waiting.append(answer)
        self._transport.write(data)

    def cut(self, why: RequestFailed) -> None:
        """Close now; requests that wait for an answer fail with `why`."""
        self.usable = False
        waiting, self._waiting = self._waiting, deque()
        for answer in waiting:
            self._fail(answer, why)
        self.abort()

    # Called by the transport.

    def data_received(self, data: bytes) -> None:
        """Parse a part of an answer, or several answers."""
        if not self._waiting:  # an unexpected answer, such as the 408 of an idle time-out
            self.cut(ConnectionLost("the peer sent bytes while no request was open", began=False))
            return
        self._began = True
        self._moved = False
        try:
            self._parser.feed_data(data)
            if not self._moved:
                self._weigh(len(data))
        except httptools.HttpParserCallbackError as error:
            self._judge(error.__context__)
        except httptools.HttpParserUpgrade:
            self._spoiled(
                BadResponse("the peer switched to another protocol, which the request did not ask for")
            )
        except httptools.HttpParserError as error:
            self._spoiled(BadResponse(f"the answer is not HTTP/1.1: {error}"))
        except BadResponse as bad:
            self._spoiled(bad)

    def eof_received(self) -> None:
        """Record that the peer will send no more bytes."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the waiting answers, except one that ends with the connection."""
        super().connection_lost(exc)
        if exc is None and self._waiting and self._ends_with_the_connection():
            self._answer()
        reason = f"the connection was lost ({exc})" if exc else "the peer closed the connection"
        waiting, self._waiting = self._waiting, deque()
        for answer in waiting:
            self._fail(answer, ConnectionLost(f"{reason} before the answer was whole", began=self._began))
            self._began = False
        self._parser = None  # type: ignore[assignment]  # it holds our methods: a cycle less to collect
        self._on_lost(self)

    def _ends_with_the_connection(self) -> bool:
        return self._in_body and all(find(self._headers, name) is None for name in _READ_TO_THE_END)

    # Called by the parser.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep one header field; trailers are not kept."""
        if not self._in_body:
            self._headers.append((name, value))
            if len(name) == CODING_LENGTH and name.lower() == TRANSFER_ENCODING and value.lower() != CHUNKED:
                coding = value[:80].decode("latin-1")
                raise BadResponse(f"an answer has the transfer coding {coding!r}; only chunked is known")

    def on_headers_complete(self) -> None:
        """Process the end of the head; after HEAD it is the end of the answer."""
        self._in_body = self._moved = True
        self._fed = 0
        if self.without_bodies:
            self._finish_head_answer()

    def on_body(self, data: bytes) -> None:
        """Keep a part of the body; a body that comes in one part is not copied."""
        self._fed = 0
        self._moved = True
        if not self._body:
            self._body = data
        elif isinstance(self._body, bytearray):
            self._body += data
        else:
            self._body = bytearray(self._body) + data
        if len(self._body) > self._body_bytes:
            raise BadResponse(f"an answer may have {self._body_bytes} bytes, {len(self._body)} came")

    def on_message_complete(self) -> None:
        """Give a complete answer to its caller; an interim one (1xx) is ignored."""
        if 100 <= self._parser.get_status_code() < 200:
            self._pass_over()
            return
        keep = self._parser.should_keep_alive()
        if not self._waiting:
            raise BadResponse("the peer sent an answer to no request")
        self._answer()
        if not keep:
            self.cut(ConnectionLost("the peer closes the connection after an earlier answer", began=False))

    def _pass_over(self) -> None:
        """Count an interim answer; a few of them are allowed before each answer."""
        self._interim += 1
        if self._interim > INTERIM_LIMIT:
            raise BadResponse(f"the peer sent more than {INTERIM_LIMIT} interim answers before one answer")
        self._next_answer()

    def _answer(self) -> None:
        self._interim = 0
        answer = self._waiting.popleft()
        body = self._body if isinstance(self._body, bytes) else bytes(self._body)
        response = Response(self._parser.get_status_code(), self._headers, body)
        self.used = True
        self._began = False
        self._next_answer()
        if not answer.done():
            answer.set_result(response)

    def _finish_head_answer(self) -> None:
        """Close this connection for further use.

        The parser would wait for the body that HEAD does not have.
        """
        if self._parser.get_status_code() >= 200 and self._waiting:
            self._answer()
            self.cut(ConnectionLost("the connection ends after HEAD", began=False))

    def _weigh(self, size: int) -> None:
        """Limit endless heads, trailers and chunk framing by counting reads that complete nothing."""
        self._fed += size
        if self._fed > self._head_bytes:
            raise BadResponse(f"the head of an answer may have {self._head_bytes} bytes, {self._fed} came")

    def _judge(self, wrong: BaseException | None) -> None:
        if not isinstance(wrong, BadResponse):
            assert wrong is not None, "the parser reports a failed callback without its error"
            raise wrong
        self._spoiled(wrong)

    def _spoiled(self, why: BadResponse) -> None:
        """Cut the connection after a malformed answer: the first caller gets this reason, the
        others `ConnectionLost`.
        """
        if self._waiting:
            self._fail(self._waiting.popleft(), why)
        self.cut(ConnectionLost("an earlier answer on this connection was bad", began=False))

    def _fail(self, answer: Any, why: RequestFailed) -> None:
        fail(answer, why)


def fail(answer: asyncio.Future[Response], why: RequestFailed) -> None:
    """Fail an answer, if its caller still waits for it."""
    if not answer.done():
        answer.set_exception(why)

"""Answers one request, once, at any time and in any order.

The connection keeps its responders in the order of the requests and sends what is ready from the
front, so a handler need not know the order of requests.

    respond                       the whole response, with its length
    begin, write, write ..., end  made while it leaves: in chunks, or for HTTP/1.0 until the connection ends
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from reliquary.base.faults import PeerFault, UsageError
from reliquary.net.http.headers import end_of_head
from reliquary.net.http.request import Request
from reliquary.net.http.response import HEAD_ONLY, JSON, LAST_CHUNK, OLD
from reliquary.net.tcp.budget import SMALL

if TYPE_CHECKING:
    from reliquary.net.http.connection import Connection


COPIED: Final = 4096
"""The largest size of a piece that is copied into its chunk: a copy is cheaper than another write."""


class Streamed:
    """A response that is made while it is sent."""

    __slots__ = ("_chunked", "_on_taken", "_pieces", "_without_body")

    def __init__(self, head: bytes, *, chunked: bool, without_body: bool) -> None:
        self._pieces: list[bytes | memoryview] = [head]
        self._chunked = chunked
        self._without_body = without_body
        self._on_taken: Callable[[], None] | None = None

    def add(self, piece: bytes | memoryview) -> None:
        """Add one more piece of the body, in a chunk if the response has chunks."""
        if self._without_body or not piece:
            return
        if self._chunked and len(piece) <= COPIED:
            self._pieces.append(b"".join((b"%x\r\n" % len(piece), piece, b"\r\n")))
        elif self._chunked:
            self._pieces += (b"%x\r\n" % len(piece), piece, b"\r\n")
        else:
            self._pieces.append(piece)

    def take(self) -> list[bytes | memoryview]:
        """Return all pieces that were not sent yet."""
        pieces, self._pieces = self._pieces, []
        return pieces

    def close(self) -> bytes:
        """Return all bytes that were not sent yet, and the end of the response."""
        self._on_taken = None
        if self._chunked and not self._without_body:
            self._pieces.append(LAST_CHUNK)
        return b"".join(self.take())

    def when_taken(self, callback: Callable[[], None]) -> None:
        """Set the function that is called if there is room for more pieces."""
        self._on_taken = callback

    def ask(self) -> None:
        """Request more pieces, unless some wait to be sent."""
        if not self._pieces:
            callback, self._on_taken = self._on_taken, None
            if callback is not None:
                callback()


class Responder(msgspec.Struct, eq=False):
    """Answers one request, from the loop's thread."""

    _connection: Connection
    mode: int
    """How the connection continues, and whether the response has a body."""
    out: bytes | None = None
    """The response or its end, which the connection sends in its turn."""
    streamed: Streamed | None = None
    """A response that has begun."""
    body_comes: bool = False
    """Whether the body of the request is streamed and not complete yet."""
    abandoned: bool = False
    """Whether the client disconnected, the handler was notified, and there is still no answer."""
    charged: int = 0
    """Bytes of the request that count in the budget until it is answered."""
    expected: int = 0
    """Bytes of the answer that count in the budget until it has left or is counted itself."""
    _gone: bool = False
    _on_gone: Callable[[], None] | None = None
    _wait: float = 0.0

    def respond(
        self,
        status: int,
        body: bytes,
        content_type: bytes = JSON,
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        """Send a response after those of earlier requests; it is dropped if the client has disconnected."""
        if self.out is not None or self.streamed is not None:
            raise UsageError(f"the request has been answered; a second answer {status} is refused")
        if self._wait:
            self._respond_later(status, body, content_type, headers)
            return
        connection = self._connection
        if self.body_comes:
            connection.end_with(self)
        if self.expected:
            self.settle()
        if len(body) > SMALL and connection.connected:
            connection.charge_unread(len(body))
        heads = connection.shared.heads
        start = heads.plain.get((self.mode, status, content_type))
        if start is None or headers:
            self.out = heads.response(self.mode, status, body, content_type, headers)
        else:
            self.out = b"".join((start, end_of_head(len(body)), body))
        if not connection.working:
            connection.answered(self)

    def slow_down(self, wait: float) -> None:
        """Delay the response by this number of seconds; the responses behind it wait too."""
        self._wait = wait

    def _respond_later(
        self, status: int, body: bytes, content_type: bytes, headers: Sequence[tuple[bytes, bytes]]
    ) -> None:
        wait, self._wait = self._wait, 0.0

        def respond() -> None:
            if self.out is None:
                self.respond(status, body, content_type, headers)

        timer = asyncio.get_running_loop().call_later(wait, respond)
        self.on_gone(timer.cancel)

    # The bytes that count in the budget of all connections.

    def expect(self, size: int) -> None:
        """Count an answer of this size before it is made; PeerFault if there is no room for it."""
        answers = self._connection.shared.budget.answers
        if not answers.fits(size):
            why = f"answers of {answers.used} bytes wait for clients to take them; try again later"
            raise PeerFault(503, why, spec="RFC 9110 15.6.4")
        self.charge(size)

    def charge(self, size: int) -> None:
        """Count bytes from which a part of the answer is made, until the answer was sent."""
        if self._connection.connected:
            self.expected += size
            self._connection.shared.budget.answers.used += size

    def settle(self) -> None:
        """Release all bytes that count in the budget."""
        budget = self._connection.shared.budget
        budget.bodies.used -= self.charged
        budget.answers.used -= self.expected
        self.charged = self.expected = 0

    # A response that is made while it leaves.

    def begin(self, status: int, content_type: bytes, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Begin a response whose length is not known yet; `write` and `end` follow."""
        if self.out is not None or self.streamed is not None:
            raise UsageError(f"the request has been answered; a second answer {status} is refused")
        connection = self._connection
        if self.body_comes or self.mode & OLD:
            connection.end_with(self)
        head = connection.shared.heads.opening(self.mode, status, content_type, headers)
        self.streamed = Streamed(head, chunked=not self.mode & OLD, without_body=bool(self.mode & HEAD_ONLY))
        self._more()

    def write(self, piece: bytes | memoryview) -> None:
        """Send one more piece; a handler with many pieces waits in between until they are taken."""
        self._begun().add(piece)
        self._more()

    def when_taken(self, callback: Callable[[], None]) -> None:
        """Call back once when there is room for more pieces; never after the client has disconnected."""
        self._begun().when_taken(callback)
        self._more()

    def end(self) -> None:
        """End the response, all of which was written."""
        self.out = self._begun().close()
        self._more()

    def abort(self) -> None:
        """Cut the connection, so that no client takes a partial response for a complete one."""
        self._connection.abort_soon()

    def _begun(self) -> Streamed:
        if self.streamed is None or self.out is not None:
            raise UsageError("the response has not begun, or has ended")
        return self.streamed

    def _more(self) -> None:
        if not self._connection.working:
            self._connection.answered(self)

    # The body of the request, where it is handed on while it comes.

    def pause_body(self) -> None:
        """Stop reading after this slice, for this request and for those behind it."""
        self._connection.pause_body()

    def resume_body(self) -> None:
        """Read the body of the request again."""
        self._connection.resume_body()

    def body_came(self) -> None:
        """Record that the body of the request is complete."""
        self.body_comes = False
        self._connection.body_came(self)

    # The client.

    @property
    def gone(self) -> bool:
        """Whether the client has disconnected, so that no answer is needed."""
        return self._gone

    @property
    def connected(self) -> bool:
        """Whether an answer could still be sent, though the client may have closed its sending side."""
        return self._connection.connected

    @property
    def peer(self) -> str:
        """The client's address; empty if it has none, or has disconnected."""
        return self._connection.peer

    @property
    def is_secure(self) -> bool:
        """Whether the client came over TLS."""
        return self._connection.is_secure

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call back once if the client disconnects before it is answered; afterwards no answer is needed.

        A client that closed its sending side after the request still gets a response that has begun.
        """
        self._on_gone = callback
        begun = self.streamed is not None and self._connection.connected
        if self._gone and self.out is None and not begun:
            self._tell()

    def lose(self) -> None:
        """Record that the client has disconnected, and call back; the connection calls this."""
        if self.streamed is not None and self._connection.connected:
            return
        self._gone = True
        if self.out is None:
            self._tell()

    def _tell(self) -> None:
        callback, self._on_gone = self._on_gone, None
        if callback is not None:
            callback()
            self.abandoned = self.out is None
            self._connection.answered(self)


Handler = Callable[[Request, Responder], None]
"""The type of a function, no coroutine, that answers a request by its responder, at once or later.

A `PeerFault` that it raises is answered with its status; any other exception ends the connection
and reaches the loop's exception handler."""

"""The way back: a responder answers one request, once, now or later, in any order.

The connection keeps its responders in the order of the requests and sends what is ready from the
front, so a handler need not know who came first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reliquary.base.faults import UsageError
from reliquary.net.http.headers import end_of_head
from reliquary.net.http.request import Request
from reliquary.net.http.response import JSON

if TYPE_CHECKING:
    from reliquary.net.http.connection import Connection


class Responder:
    """Answers one request, from the loop's thread."""

    __slots__ = ("_connection", "_gone", "_mode", "_on_gone", "abandoned", "out")

    def __init__(self, connection: Connection, mode: int) -> None:
        self._connection = connection
        self._mode = mode
        self._gone = False
        self._on_gone: Callable[[], None] | None = None
        self.out: bytes | None = None
        """The response, for the connection to send in its turn."""
        self.abandoned = False
        """The client hung up, the handler was told, and there is still no answer."""

    def respond(
        self,
        status: int,
        body: bytes,
        content_type: bytes = JSON,
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        """Send a response once those of earlier requests are sent; dropped when the client has gone."""
        if self.out is not None:
            raise UsageError(f"the request has been answered; a second answer {status} is refused")
        connection = self._connection
        heads = connection.shared.heads
        start = heads.plain.get((self._mode, status, content_type))
        if start is None or headers:
            self.out = heads.response(self._mode, status, body, content_type, headers)
        else:
            self.out = b"".join((start, end_of_head(len(body)), body))
        if not connection.working:
            connection.answered(self)

    @property
    def gone(self) -> bool:
        """Whether the client has hung up and nobody waits for the answer."""
        return self._gone

    @property
    def peer(self) -> str:
        """The client's address; empty where it has none, or has gone."""
        return self._connection.peer

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call back once if the client hangs up before it is answered; afterwards no answer is owed."""
        self._on_gone = callback
        if self._gone and self.out is None:
            self._tell()

    def lose(self) -> None:
        """The connection tells that the client has hung up."""
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
"""Takes a request and sees to it that the responder answers, at once or later; no coroutine.

A `PeerFault` that it raises is answered with its status; any other exception ends the connection
and reaches the loop's exception handler."""

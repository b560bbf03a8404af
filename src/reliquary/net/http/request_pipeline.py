"""Sends the requests of one epoch over a connection, until its end or its first failure.

    send --> waiting --> unanswered --> whole: reported as arrived
                ^  |          |
                |  '----------'--> failed: the first without a response, and all behind it, are reported
                |             |
                '-------------'  the peer closed a connection that had worked, and the protocol allows
                                 that a request is sent twice: again, from the first without a response

Requests are sent in their order, several before the first is answered, and responses are reported in
that order.  Nothing is sent behind a request that failed.  A connection that the peer closed while
nothing was unanswered is replaced by another.  If the peer closes its connection with a response, the
first request over the next one is sent alone, because unread bytes at a close can destroy the response.

The time for a response begins when its request has left.  Until then each byte that the peer takes is
progress: a large request over a slow line may take any time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, seconds
from reliquary.net.http.dialing import server_address
from reliquary.net.http.failures import ConnectionLost, Failure
from reliquary.net.http.pending_response import PendingResponse, Req
from reliquary.net.http.request_head import LAST_CHUNK, chunk
from reliquary.net.http.streamed_connection import StreamedConnection
from reliquary.net.tcp.dialing import NotConnected, reach

if TYPE_CHECKING:
    from reliquary.net.http.courier import HttpCourier

HEAD_BYTES: Final = 64 * 1024
"""The limit of the head of a response that does not come in one read."""
CONNECT_TIME: Final = seconds(10)
LOOKS: Final = 8
"""The number of checks of the progress of a leaving request within the time for a response."""
LONGEST_LOOK: Final = 1.0
"""The most seconds between two of these checks."""

Resp = TypeVar("Resp", bound=PendingResponse[Any])
"""The reader of the responses of a protocol."""


class RequestPipeline(Generic[Req, Resp]):
    """One connection at a time, and the requests that were sent over it."""

    def __init__(self, courier: HttpCourier[Req, Resp]) -> None:
        self._courier = courier
        self._terms = courier.terms
        self._depth = courier.terms.in_flight
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Req] = deque()
        self._unanswered: deque[Resp] = deque()
        """The responses to requests that were sent, wholly or in part."""
        self._unanswered_bytes = 0
        self._answers_in_a_row = 0
        """The number of answers since no request was unanswered."""
        self._closes = False
        """Whether the peer closed the connection with its latest response."""
        self._connection: StreamedConnection | None = None
        self._task: asyncio.Task[None] | None = None
        """The task that connects, waits for room, or sends the pieces of a request; nothing else is
        sent meanwhile.
        """
        self._pieces: Iterator[bytes] = iter(())
        """The rest of the latest request."""
        self._written = 0
        """Bytes that were given to the connection."""
        self._left = 0
        """The number of those bytes that the peer had at the last check."""
        self._moved_at = 0.0
        """The time of the last progress, or since when the first response is the first."""
        self._timer: asyncio.TimerHandle | None = None
        self._failure: tuple[Failure, str] | None = None
        self._over = False
        """Whether the pipeline has ended or failed, so that nothing is reported."""

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None and self._connection.usable

    def send(self, request: Req) -> None:
        """Send a request after the earlier ones."""
        if self._failure is not None:
            self._courier.refuse(request, *self._failure)
        elif not self._over:
            self._waiting.append(request)
            self._go_on()

    def end(self) -> None:
        """Close the connection; requests in flight are not reported."""
        self._over = True
        self._waiting.clear()
        for response in self._unanswered:
            response.give_up()
        self._unanswered.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        if self._connection is not None:
            self._connection.cut(ConnectionLost("the connection is not needed any more", began=False))

    # -- sending

    def _go_on(self) -> None:
        """Send the requests that may leave now; without a connection, connect first."""
        if self._task is not None or self._over or not self._waiting:
            return
        connection, limit = self._connection, self._terms.unanswered_bytes
        if connection is None or not connection.usable:
            if not self._unanswered:  # otherwise their failure is reported first
                self._begin(self._connect)
            return
        depth = 1 if self._closes else self._depth
        while self._waiting and len(self._unanswered) < depth and self._unanswered_bytes < limit:
            if not connection.has_room:
                self._begin(connection.room)
                return
            try:
                data = self._courier.encode(self._waiting[0])
            except (UsageError, UnicodeError) as why:
                self._fail(Failure.LOST if self._unanswered else Failure.NO_ADDRESS, str(why))
                return
            if isinstance(data, bytes):
                self._ask(connection, data)
            else:
                head, self._pieces = data
                self._ask(connection, head)
                self._begin(self._send_pieces)
                return

    def _ask(self, connection: StreamedConnection, data: bytes) -> None:
        """Send the first waiting request, or the beginning of it."""
        response = self._courier.expect(self._waiting.popleft(), self._changed)
        response.request_bytes = size = len(data)
        if not self._unanswered:
            self._moved_at = self._loop.time()
            self._left = self._written
        self._written += size
        self._unanswered.append(response)
        self._unanswered_bytes += size
        self._courier.bytes_sent += size
        if self._timer is None:
            self._timer = self._loop.call_later(self._next_look(), self._look)
        connection.ask(data, response)

    def _begin(self, step: Callable[[], Awaitable[None]]) -> None:
        self._task = self._loop.create_task(self._work(step))

    async def _work(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except NotConnected as failed:
            self._fail(Failure(failed.reason.value), str(failed))
        except ConnectionLost:
            pass  # the connection fails the responses that wait for it
        self._task = None
        self._go_on()

    async def _connect(self) -> None:
        try:
            address = server_address(self._courier.url_of(self._waiting[0]), self._courier.addresses)
        except (ValueError, UsageError) as why:
            self._fail(Failure.NO_ADDRESS, str(why))
        else:
            self._connection = await reach(
                address, StreamedConnection(HEAD_BYTES, self._loop.call_soon), CONNECT_TIME
            )
            self._written = self._left = 0

    async def _send_pieces(self) -> None:
        connection = self._connection
        assert connection is not None, "the head of the request went over a connection"
        try:
            for piece in self._pieces:
                data = chunk(piece)
                self._courier.bytes_sent += len(data)
                self._written += len(data)
                connection.write(data)
                await connection.room()
                self._moved_at = self._loop.time()
        except (UsageError, UnicodeError) as gone:  # without its last chunk the request is incomplete
            self._fail(Failure.LOST, f"the request could not be sent to its end: {gone}")
        else:
            connection.write(LAST_CHUNK)
            self._written += len(LAST_CHUNK)

    # -- responses

    def _changed(self) -> None:
        """Report the responses that are complete, in their order, then send more requests."""
        if self._over:
            return
        self._moved_at = self._loop.time()
        unanswered, is_storing = self._unanswered, False
        while unanswered and unanswered[0].is_whole:
            response = unanswered.popleft()
            self._closes = not self.is_connected
            self._unanswered_bytes -= response.request_bytes
            self._answers_in_a_row = self._answers_in_a_row + 1 if unanswered else 0
            self._courier.arrived(response)
        if unanswered:
            first = unanswered[0]
            if first.failure is not None:
                self._lost(first, first.failure)
                return
            is_storing = first.is_storing
        connection = self._connection
        if connection is not None and connection.is_reading is is_storing:
            connection.read_on(not is_storing)
        if self._waiting:
            self._go_on()

    def _lost(self, first: Resp, failure: Failure) -> None:
        """Handle the loss of the first response: send the request again if this is allowed."""
        assert self._connection is not None, "a request was sent over a connection"
        if self._terms.resends and first.nothing_came and self._connection.used:
            self._send_again()
        else:
            self._fail(failure, first.why)

    def _send_again(self) -> None:
        """Send the unanswered requests again, because the peer closed the connection between two answers.

        If others waited behind the answer, the peer gets one request at a time from then on.
        """
        if self._answers_in_a_row:
            self._depth = 1
        for response in self._unanswered:
            response.give_up()
        self._waiting.extendleft([response.request for response in reversed(self._unanswered)])
        self._unanswered.clear()
        self._unanswered_bytes = self._answers_in_a_row = 0
        self._connection = None
        self._go_on()

    # -- time

    def _patience(self) -> float:
        """Return the seconds that may pass without progress of the first response."""
        return (self._terms.response_time + self._unanswered[0].wait) / SECOND

    def _next_look(self) -> float:
        """Return the seconds until the next check of the progress of a leaving request."""
        return min(self._patience() / LOOKS, LONGEST_LOOK)

    def _look(self) -> None:
        """Fail if neither the requests that leave nor the first response made progress for too long."""
        self._timer = None
        if not self._unanswered:
            return
        now = self._loop.time()
        unsent = 0 if self._connection is None else self._connection.unsent
        left = self._written - unsent
        if left != self._left:
            self._left, self._moved_at = left, now
        due = self._moved_at + self._patience()
        if now < due:
            next_look = min(due, now + self._next_look()) if unsent else due
            self._timer = self._loop.call_at(next_look, self._look)
        else:
            self._fail(Failure.TIMED_OUT, f"{self._terms.overdue} within {self._patience():g} s")

    def _fail(self, failure: Failure, why: str) -> None:
        """Report that the first request without a response has failed, and those behind it too."""
        if self._over:
            return
        requests = [*[response.request for response in self._unanswered], *self._waiting]
        self._failure = (failure, why)
        self.end()
        self._courier.failed(requests, failure, why)

"""The connection of one channel and epoch, from its first request to its end or its first failure.

    SendRequest --> waiting --> unanswered --> whole: ResponseArrived
                       |            |
                       '------------'--------> RequestFailed, once, for the first without a response

Requests go out in their order without waiting for responses, and responses are told in that order.  No
request is sent twice: what became of it would be unknown, and only a REPORT may find that out.  A
connection that the peer closed while nothing was unanswered is replaced by another.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, seconds
from reliquary.net.http import ConnectFailed, ConnectionLost
from reliquary.net.http.dialing import reach, unreached
from reliquary.net.http.request_head import LAST_CHUNK, chunk
from reliquary.net.http.streamed_connection import StreamedConnection
from reliquary.net.httpr.batches import is_small
from reliquary.net.httpr.incoming import Incoming
from reliquary.net.httpr.outgoing import HEADERS, chunked_head, pieces, whole
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import Failure

if TYPE_CHECKING:
    from reliquary.net.httpr.courier import Courier

HEAD_BYTES: Final = 64 * 1024
"""The head of a response, as far as it does not come in one read."""
CONNECT_TIME: Final = seconds(10)


class Route:
    """One connection at a time, and what was asked over it."""

    def __init__(self, courier: Courier, epoch: int) -> None:
        self._courier = courier
        self._loop = asyncio.get_running_loop()
        self.epoch = epoch
        self._waiting: deque[SendRequest] = deque()
        self._unanswered: deque[Incoming] = deque()
        """Of requests that were sent, wholly or in part."""
        self._connection: StreamedConnection | None = None
        self._headers = HEADERS
        """For the server that it leads to."""
        self._task: asyncio.Task[None] | None = None
        """Connects, and sends what cannot leave at once."""
        self._moved_at = 0.0
        """When anything last came or went, or the first response became the first."""
        self._timer: asyncio.TimerHandle | None = None
        self._over = False
        """It was ended or has failed: nothing is told any more."""

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None and self._connection.usable

    def send(self, request: SendRequest) -> None:
        """Take the next request."""
        if not self._over:
            self._waiting.append(request)
            self._go_on()

    def end(self) -> None:
        """Let go of everything; nobody is told."""
        self._over = True
        self._waiting.clear()
        unanswered, self._unanswered = self._unanswered, deque()
        for incoming in unanswered:
            incoming.give_up()
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        if self._connection is not None:
            self._connection.cut(ConnectionLost("the connection is not needed any more", began=False))

    # -- out

    def _go_on(self) -> None:
        """Send what may leave at once; the rest, and a connection, are a task's work."""
        if self._task is not None or self._over:
            return
        if self.is_connected:
            while self._waiting and self._may_send_at_once(self._waiting[0]):
                self._send()
        elif self._unanswered:  # they are told of first
            return
        if self._waiting and not self._over:
            self._task = self._loop.create_task(self._work())

    def _may_send_at_once(self, request: SendRequest) -> bool:
        assert self._connection is not None, "a request goes over a connection"
        return self._connection.has_room and is_small(request.batch)

    async def _work(self) -> None:
        try:
            if not self.is_connected:
                await self._connect()
            while self._waiting and self._connection is not None:
                await self._connection.room()
                if is_small(self._waiting[0].batch):
                    self._send()
                else:
                    await self._send_in_pieces()
        except ConnectFailed as failed:
            self._fail(Failure(unreached(failed).value), str(failed))
        except ConnectionLost:
            pass  # whoever waits for a response over it is told by it
        self._task = None
        self._go_on()

    async def _connect(self) -> None:
        assert not self._unanswered, "a new connection, and an old one is not over"
        url = self._waiting[0].url
        try:
            place = self._courier.places.find(url)
        except ValueError as why:
            self._fail(Failure.NO_ADDRESS, str(why))
        else:
            self._headers = self._courier.headers_for(url)
            self._connection = await reach(place, StreamedConnection(HEAD_BYTES), CONNECT_TIME)

    def _send(self) -> None:
        """The first that waits, in one piece."""
        try:
            data = whole(self._waiting[0], self._courier.home, self._headers)
        except (UsageError, UnicodeError) as why:
            self._refuse(str(why))
        else:
            self._ask(data)

    async def _send_in_pieces(self) -> None:
        connection, request = self._connection, self._waiting[0]
        assert connection is not None, "a request goes over a connection"
        try:
            head = chunked_head(request, self._headers)
        except (UsageError, UnicodeError) as why:
            self._refuse(str(why))
            return
        self._ask(head)
        try:
            for piece in pieces(request, self._courier.home, self._courier.bodies.read):
                self._put(connection, chunk(piece))
                await connection.room()
                self._move()
        except (UsageError, UnicodeError) as gone:  # without a terminator the peer keeps nothing (HR-117)
            self._fail(Failure.LOST, f"the request could not be sent to its end: {gone}")
        else:
            connection.write(LAST_CHUNK)

    def _refuse(self, why: str) -> None:
        """The first that waits makes no request; those before it have one, and may have been done."""
        self._fail(Failure.LOST if self._unanswered else Failure.NO_ADDRESS, why)

    def _ask(self, data: bytes) -> None:
        """Send the first that waits, or the beginning of it."""
        assert self._connection is not None, "a request goes over a connection"
        request = self._waiting.popleft()
        if not self._unanswered:
            self._move()
        self._unanswered.append(Incoming(request, self._courier.bodies, self._changed))
        self._courier.sent(request, len(data))
        self._connection.ask(data, self._unanswered[-1])
        self._watch()

    def _put(self, connection: StreamedConnection, data: bytes) -> None:
        self._courier.bytes_sent += len(data)
        connection.write(data)

    # -- back

    def _changed(self) -> None:
        """Something of a response came or was stored: tell those that are whole, in their order."""
        if self._over:
            return
        self._move()
        while self._unanswered and self._unanswered[0].is_whole:
            self._courier.arrived(self._unanswered.popleft())
        first = self._unanswered[0] if self._unanswered else None
        if first is not None and first.failure is not None:
            self._fail(first.failure, first.why)
            return
        if self._connection is not None:
            self._connection.read_on(first is None or not first.is_storing)
        self._go_on()

    # -- time

    def _move(self) -> None:
        self._moved_at = self._loop.time()

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._patience(), self._look)

    def _patience(self) -> float:
        """How long the first response may take."""
        return (self._courier.response_time + self._unanswered[0].request.wait) / SECOND

    def _look(self) -> None:
        """Has the first response stood still for too long?"""
        self._timer = None
        if not self._unanswered:
            return
        due = self._moved_at + self._patience()
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._look)
        else:
            self._fail(Failure.TIMED_OUT, f"nothing came within {self._patience():g} s")

    def _fail(self, failure: Failure, why: str) -> None:
        """The first request without a response has none, and neither have those behind it."""
        if self._over:
            return
        first = self._unanswered[0].request if self._unanswered else self._waiting[0]
        self.end()
        self._courier.failed(first, failure, why)

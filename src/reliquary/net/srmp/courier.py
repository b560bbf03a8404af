"""The courier of SRMP: the POSTs of an outgoing queue, in their order, on one connection.

    Post --> waiting --> sent --> answered: PostEnded with a status
                ^          |
                |          '--> no answer: it, and all behind it, end with a Failure
                '--- the peer closed a connection that had worked: once more, from the first without an answer

Several are sent before the first is answered, but a POST never overtakes another, and none is sent
behind one that failed: a stream arrives in its order or not at all.  Whatever is sent twice is known
to its receiver by its identifier.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Duration
from reliquary.net.http import ConnectFailed, ConnectionLost, Response
from reliquary.net.http.client_connection import ClientConnection
from reliquary.net.http.dialing import DialLimits, Places, dial, unreached
from reliquary.net.http.request_head import encode_request
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.events import Failure, PostEnded

ANSWER_BYTES: Final = 1024 * 1024
"""An answer has no body that means anything; a web server may put a page there."""
PIPELINED_BYTES: Final = 1024 * 1024
"""With so many bytes unanswered the next POST waits: what a slow peer does not take is not copied for him."""
BEHIND: Final = ((b"SOAPAction", b'"MSMQMessage"'), (b"Proxy-Accept", b"NonInteractiveClient"))
AFTER_A_FAILURE: Final = "a POST before it on the same connection has no answer"

Ended = Callable[[PostEnded], None]


class Courier:
    """Performs `Post` and `EndSession`."""

    def __init__(
        self,
        ended: Ended,
        *,
        in_flight: int,
        response_time: Duration,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        """`ended` takes what became of each POST; `tls` is asked when the first https server is met."""
        self._ended = ended
        self.places = Places(tls)
        self._routes: dict[int, Route] = {}
        """By session."""
        self._past: dict[int, int] = {}
        """The last epoch of each session that was ended."""
        self.in_flight = in_flight
        self.response_time = response_time
        self.posted = 0
        self.answers: Counter[int] = Counter()
        """How many POSTs were answered with each status."""
        self.failures: Counter[Failure] = Counter()
        """How many have no answer, by reason."""

    @property
    def connections(self) -> int:
        """How many sessions have a connection."""
        return sum(route.is_connected for route in self._routes.values())

    def post(self, post: Post) -> None:
        """Send a message behind those that its session was given before."""
        if post.epoch <= self._past.get(post.session, -1):
            return
        route = self._routes.get(post.session)
        if route is None or route.epoch < post.epoch:
            if route is not None:
                self.end(EndSession(post.session, route.epoch))
            route = self._routes[post.session] = Route(self, post)
        self.posted += 1
        route.post(post)

    def end(self, ending: EndSession) -> None:
        """Close a connection; nobody is told of what was in flight."""
        self._past[ending.session] = max(ending.epoch, self._past.get(ending.session, -1))
        route = self._routes.get(ending.session)
        if route is not None and route.epoch <= ending.epoch:
            del self._routes[ending.session]
            route.end()

    def stop(self) -> None:
        """Close all connections."""
        for session, route in list(self._routes.items()):
            self.end(EndSession(session, route.epoch))

    def answered(self, post: Post, status: int) -> None:
        """A POST has its status."""
        self.answers[status] += 1
        self._ended(PostEnded(post.session, post.epoch, post.lookup_id, status))

    def failed(self, post: Post, failure: Failure, why: str) -> None:
        """A POST will have none."""
        self.failures[failure] += 1
        self._ended(PostEnded(post.session, post.epoch, post.lookup_id, 0, failure, why))


class Route:
    """The connection of one session, from its first POST to its end or its first failure."""

    def __init__(self, courier: Courier, first: Post) -> None:
        self._courier = courier
        self._loop = asyncio.get_running_loop()
        self.epoch = first.epoch
        self._server = first.server
        self._waiting: deque[Post] = deque()
        self._sent: deque[tuple[Post, int]] = deque()
        """Without an answer, each with the size of its request."""
        self._sent_bytes = 0
        self._answers_in_a_row = 0
        """Since there was last nothing to answer."""
        self._depth = courier.in_flight
        self._connection: ClientConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._head_since = 0.0
        """Since when the first of those without an answer is the first."""
        self._timer: asyncio.TimerHandle | None = None
        self._over = False
        """It was ended."""
        self._failure: Failure | None = None
        """It failed, and nothing goes any more."""
        self._why = ""

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None and self._connection.usable

    def post(self, post: Post) -> None:
        """Take the next one."""
        if self._failure is not None:
            self._courier.failed(post, self._failure, self._why)
            return
        self._waiting.append(post)
        self._go_on()

    def end(self) -> None:
        """Let go of everything."""
        self._over = True
        self._waiting.clear()
        self._sent.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None:
            self._connection.cut(ConnectionLost("the session was ended", began=False))

    # -- out

    def _go_on(self) -> None:
        """Send what may be sent now; without a connection, connect first."""
        if not self._waiting or self._connecting is not None:
            return
        if not self.is_connected:
            if not self._sent:  # else those are told of first
                self._connecting = self._loop.create_task(self._connect())
            return
        while self._waiting and len(self._sent) < self._depth and self._sent_bytes < PIPELINED_BYTES:
            self._send(self._waiting.popleft())

    def _send(self, post: Post) -> None:
        assert self._connection is not None, "a POST goes over a connection"
        try:
            request = encode_post(post)
        except (UsageError, UnicodeError) as why:
            self._waiting.appendleft(post)
            self._fail(Failure.NO_ADDRESS, str(why))
            return
        answer: asyncio.Future[Response] = self._loop.create_future()
        answer.add_done_callback(partial(self._answered, self._connection, post))
        if not self._sent:
            self._begin_wait()
        self._sent.append((post, len(request)))
        self._sent_bytes += len(request)
        self._connection.send(request, answer)

    async def _connect(self) -> None:
        try:
            place = self._courier.places.find(self._server)
            limits = DialLimits(body_bytes=ANSWER_BYTES)
            connection = await dial(place, limits, lambda _: None)
        except ConnectFailed as failed:
            self._connecting = None
            self._fail(Failure(unreached(failed).value), str(failed))
            return
        except (ValueError, UsageError) as why:
            self._connecting = None
            self._fail(Failure.NO_ADDRESS, str(why))
            return
        self._connecting = None
        self._connection = connection
        self._go_on()

    # -- back

    def _answered(self, connection: ClientConnection, post: Post, answer: asyncio.Future[Response]) -> None:
        """The answer to the first one without an answer; the connection keeps their order."""
        failed = answer.exception()
        if self._over or connection is not self._connection or self._failure is not None:
            return
        if failed is None:
            ended, size = self._sent.popleft()
            assert ended is post, "answers come in the order of POSTs"
            self._sent_bytes -= size
            self._answers_in_a_row = self._answers_in_a_row + 1 if self._sent else 0
            self._head_since = self._loop.time()
            self._courier.answered(post, answer.result().status)
        elif isinstance(failed, ConnectionLost) and not failed.began and connection.used:
            self._send_again()
        else:
            self._fail(Failure.LOST, str(failed))
            return
        if not self._over:
            self._go_on()

    def _send_again(self) -> None:
        """The peer hung up between two answers, as it may: what it did not answer goes again elsewhere.

        One that does so while others wait behind the answer gets one POST at a time from then on.
        """
        if self._answers_in_a_row:
            self._depth = 1
        self._waiting.extendleft(post for post, _ in reversed(self._sent))
        self._sent.clear()
        self._sent_bytes = self._answers_in_a_row = 0
        self._connection = None

    def _begin_wait(self) -> None:
        self._head_since = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(self._courier.response_time / SECOND, self._look)

    def _look(self) -> None:
        """Has the first one waited too long for its answer?"""
        self._timer = None
        if not self._sent:
            return
        due = self._head_since + self._courier.response_time / SECOND
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._look)
        else:
            self._fail(Failure.TIMED_OUT, f"no answer within {self._courier.response_time / SECOND:g} s")

    def _fail(self, failure: Failure, why: str) -> None:
        """All that were given to this session, and all that come yet, end with it."""
        if self._over or self._failure is not None:
            return
        self._failure, self._why = failure, why
        posts = [post for post, _ in self._sent] + list(self._waiting)
        self._sent.clear()
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._connection is not None:
            self._connection.cut(ConnectionLost(why, began=False))
        for place, post in enumerate(posts):
            if place and failure in (Failure.LOST, Failure.TIMED_OUT):
                self._courier.failed(post, Failure.LOST, AFTER_A_FAILURE)
            else:
                self._courier.failed(post, failure, why)


def encode_post(post: Post) -> bytes:
    """The request as its peers know it, header by header (A.2 of the digest)."""
    headers = (
        (b"Host", post.authority.encode("ascii")),
        (b"Content-Type", post.content_type.encode("ascii")),
    )
    return encode_request("POST", post.target, b"", headers, post.body, BEHIND)

"""Sends the POSTs of WS-ReliableMessaging, those of one number in order on one connection.

    Post -------> POST, sent again where the peer closed a connection that had worked
    HangUp -----> the connection is closed
    PostEnded <-- status, content type and body, or a failure for this POST and for each one behind it

A connection has the number of its outgoing queue, or a negative number if it leads to the address of a
peer.  The destination recognizes a repeated message by its number.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from reliquary.base.time import Duration
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.http.courier import PostCourier, Terms
from reliquary.net.http.failures import Failure as HttpFailure
from reliquary.net.http.headers import Headers, find
from reliquary.net.http.pending_response import PendingResponse
from reliquary.net.http.request_head import authorization, encode_request, target_and_host
from reliquary.net.http.trace_fields import trace_fields
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.protocols.wsrm.events import PostEnded
from reliquary.queueing.travel.failures import Failure

PIPELINED_BYTES: Final = 1024 * 1024
"""The number of unanswered bytes at which the next POST waits, so that a slow peer needs little memory."""
NO_CREDENTIALS: Final[Mapping[str, str]] = MappingProxyType({})
PLAIN: Final = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in '"\\')
"""The characters that are allowed in the quotes of a SOAPAction; others are percent-encoded."""

Ended = Callable[[PostEnded], None]


class PostResponse(PendingResponse[Post]):
    """The response to a POST, which may have an envelope."""

    __slots__ = ("_largest", "_parts", "content_type", "status")

    def __init__(self, request: Post, changed: Callable[[], None], largest: int) -> None:
        super().__init__(request, changed)
        self._largest = largest
        self._parts: list[bytes] = []
        self.status = 0
        self.content_type = ""

    @property
    def body(self) -> bytes:
        """The received part of the body."""
        return b"".join(self._parts)

    def begun(self, status: int, headers: Headers) -> None:
        """Keep the status, and the type of the body that follows."""
        self.status = status
        self.content_type = (find(headers, b"content-type") or b"").decode("latin-1")

    def taken(self, data: bytes) -> None:
        """Keep a part of the body, as far as the limit allows."""
        self.body_bytes += len(data)
        if self.body_bytes > self._largest:
            why = f"a response may have {self._largest} bytes, {self.body_bytes} came"
            self.fail(HttpFailure.BAD_RESPONSE, why)
        else:
            self._parts.append(data)

    def ended(self) -> None:
        """Record that the whole response has come."""
        self.is_whole = True
        self.changed()


class Courier(PostCourier[Post, PostResponse]):
    """Sends the requests of `Post`, and closes connections for `HangUp`."""

    def __init__(
        self,
        ended: Ended,
        *,
        response_time: Duration,
        largest: int,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        credentials: Mapping[str, str] = NO_CREDENTIALS,
    ) -> None:
        """`ended` takes the outcome of each POST; `largest` is the limit of a response's body.

        `tls` is called for the first https server.  `credentials` authenticate this client to servers, by
        origins such as `https://host`; no other server gets them.
        """
        terms = Terms(
            response_time=response_time,
            overdue="no response",
            unanswered_bytes=PIPELINED_BYTES,
            resends=True,
        )
        super().__init__(terms, tls)
        self._ended = ended
        self._largest = largest
        self._credentials = credentials

    def post(self, post: Post) -> None:
        """Send an envelope after the earlier ones of its connection."""
        self.send(post, post.connection, post.epoch)

    def hang_up(self, effect: HangUp) -> None:
        """Close a connection; requests in flight are not reported."""
        self.pipelines.end(effect.connection, effect.epoch)

    # -- called by pipelines before a request leaves

    def url_of(self, request: Post) -> str:
        """Return the URL of the peer."""
        return request.url

    def encode(self, request: Post) -> bytes:
        """Return the request; SOAP 1.1 has its action in a header of HTTP, SOAP 1.2 in the content type."""
        target, host = target_and_host(request.url)
        headers = [(b"content-type", request.content_type.encode("ascii"))]
        if request.action:
            headers.append((b"SOAPAction", b'"%b"' % quote(request.action, safe=PLAIN).encode()))
        if request.trace_context:
            headers += trace_fields(request.trace_context)
        headers += authorization(request.url, self._credentials)
        return encode_request("POST", target, host, tuple(headers), request.body)

    def expect(self, request: Post, changed: Callable[[], None]) -> PostResponse:
        """Return the reader of the response."""
        return PostResponse(request, changed, self._largest)

    # -- called by pipelines after a response or a failure

    def arrived(self, response: PostResponse) -> None:
        """Report the response of a POST."""
        post, status = response.request, response.status
        self.answers[status] += 1
        self._ended(
            PostEnded(post.connection, post.epoch, post.ticket, status, response.content_type, response.body)
        )

    def unanswered(self, request: Post, reason: Failure, why: str) -> None:
        """Report that a POST will have no response."""
        self._ended(PostEnded(request.connection, request.epoch, request.ticket, failure=reason, why=why))


def plug_in(
    opened: OpenedEngine,
    *,
    response_time: Duration,
    largest: int,
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    credentials: Mapping[str, str] = NO_CREDENTIALS,
) -> Courier:
    """Connect a courier to the POSTs of an engine."""
    engine = opened.engine

    def ended(event: PostEnded) -> None:
        with suppress(EngineStopped):
            engine.submit(event)

    courier = Courier(ended, response_time=response_time, largest=largest, tls=tls, credentials=credentials)
    engine.performers |= {Post: courier.post, HangUp: courier.hang_up}
    return courier

"""Sends the POSTs of an outgoing queue for SRMP, in order on one connection.

    Post --------> POST, sent again where the peer closed a connection that had worked
    EndSession --> the connection is closed
    PostEnded <--- a status, or a failure for this POST and for each one behind it

A stream arrives in order or not at all.  The receiver recognizes a repeated POST by its identifier.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Final

from reliquary.base.time import Duration
from reliquary.net.http.courier import PostCourier, Terms
from reliquary.net.http.failures import Failure as HttpFailure
from reliquary.net.http.headers import Headers, format_headers
from reliquary.net.http.pending_response import PendingResponse
from reliquary.net.http.request_head import encode_request
from reliquary.net.http.trace_fields import trace_fields
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.events import PostEnded
from reliquary.protocols.srmp.refusals import FIELD, LONGEST, read_refusal
from reliquary.queueing.model.message import HOP_LIMIT, MessageClass
from reliquary.queueing.travel.failures import Failure

ANSWER_BYTES: Final = 1024 * 1024
"""The limit of the body of an answer, which has no meaning, but a web server may send a page."""
PIPELINED_BYTES: Final = 1024 * 1024
"""The number of unanswered bytes at which the next POST waits, so that a slow peer needs little memory."""
MAX_FORWARDS: Final = b"Max-Forwards"
"""The header that limits how often a message may be forwarded (RFC 9110, 7.6.2); SRMP has no
element for it.
"""
BEHIND: Final = format_headers(
    ((b"SOAPAction", b'"MSMQMessage"'), (b"Proxy-Accept", b"NonInteractiveClient"))
)

Ended = Callable[[PostEnded], None]


class PostResponse(PendingResponse[Post]):
    """The answer to a POST: its status, and the reason of a refusal."""

    __slots__ = ("reason", "status", "words")
    status: int
    reason: MessageClass | None
    words: str

    def begun(self, status: int, headers: Headers) -> None:
        """Keep the status of the response, and the reason for which a Reliquary peer refuses."""
        self.status, self.reason, self.words = status, None, ""
        if status >= 400:
            for name, value in headers:
                if name.lower() == FIELD:
                    self.reason, self.words = read_refusal(value)

    def taken(self, data: bytes) -> None:
        """Keep the first words of a page that a web server sends, and limit its length."""
        if self.status >= 400 and self.reason is None and len(self.words) < LONGEST:
            self.words = (self.words + data.decode("latin-1"))[:LONGEST]
        self.body_bytes += len(data)
        if self.body_bytes > ANSWER_BYTES:
            self.fail(
                HttpFailure.BAD_RESPONSE, f"an answer may have {ANSWER_BYTES} bytes, {self.body_bytes} came"
            )

    def ended(self) -> None:
        """Record that the whole answer has come."""
        self.is_whole = True
        self.changed()


class Courier(PostCourier[Post, PostResponse]):
    """Sends the requests of `Post`, and closes connections for `EndSession`."""

    def __init__(
        self,
        ended: Ended,
        *,
        in_flight: int,
        response_time: Duration,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        """`ended` takes the outcome of each POST; `tls` is called for the first https server."""
        terms = Terms(
            response_time=response_time,
            overdue="no answer",
            in_flight=in_flight,
            unanswered_bytes=PIPELINED_BYTES,
            resends=True,
        )
        super().__init__(terms, tls)
        self._ended = ended

    def post(self, post: Post) -> None:
        """Send a message after the earlier ones of its session."""
        self.send(post, post.session, post.epoch)

    def end(self, ending: EndSession) -> None:
        """Close the connection of a session; requests in flight are not reported."""
        self.pipelines.end(ending.session, ending.epoch)

    # -- called by pipelines before a request leaves

    def url_of(self, request: Post) -> str:
        """Return the server to connect to, which may differ from the destination."""
        return request.server

    def encode(self, request: Post) -> bytes:
        """Return the request with the headers, and their order, that peers of SRMP expect."""
        headers: tuple[tuple[bytes, bytes], ...] = (
            (b"Host", request.authority.encode("ascii")),
            (b"Content-Type", request.content_type.encode("ascii")),
        )
        if request.hops:  # only forwarded messages have it: other messages equal those of Windows
            headers += ((MAX_FORWARDS, b"%d" % (HOP_LIMIT - request.hops)),)
        if request.trace_context:
            headers += trace_fields(request.trace_context)
        return encode_request("POST", request.target, b"", headers, request.body, BEHIND)

    def expect(self, request: Post, changed: Callable[[], None]) -> PostResponse:
        """Return the reader of the answer."""
        return PostResponse(request, changed)

    # -- called by pipelines after a response or a failure

    def arrived(self, response: PostResponse) -> None:
        """Report the status of a POST."""
        post, status = response.request, response.status
        self.answers[status] += 1
        words = " ".join(response.words.split())
        ended = PostEnded(post.session, post.epoch, post.lookup_id, status, None, words, response.reason)
        self._ended(ended)

    def unanswered(self, request: Post, reason: Failure, why: str) -> None:
        """Report that a POST will have no status."""
        self._ended(PostEnded(request.session, request.epoch, request.lookup_id, 0, reason, why))

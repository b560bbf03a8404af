"""Sends the requests of a protocol over HTTP, those for one peer in order on one connection.

    an effect --> the pipeline of its key and epoch --> arrived, or failed
    an end -----> the pipeline ends, and nothing of it is reported afterwards

A protocol's courier is a subclass.  It writes requests and reads responses, and turns responses and
failures into events of the protocol.
"""

from __future__ import annotations

import ssl
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic

from reliquary.base.time import Duration
from reliquary.net.http.failures import Failure
from reliquary.net.http.pending_response import Req
from reliquary.net.http.request_pipeline import RequestPipeline, Resp
from reliquary.net.tcp.dialing import ServerAddresses
from reliquary.net.tcp.epochs import Epochs
from reliquary.queueing.travel.failures import Failure as Unanswered

AFTER_A_FAILURE: Final = "an earlier request on its connection has no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The limits and rules of a protocol for its connections."""

    response_time: Duration
    """The time for which the first request without a response may make no progress, on its way or
    of its response.
    """
    overdue: str
    """The name of the overdue response, for the reason of the failure: `no answer`."""
    in_flight: int = sys.maxsize
    """The most requests that may be unanswered."""
    unanswered_bytes: int = sys.maxsize
    """The number of unanswered bytes at which the next request waits."""
    resends: bool = False
    """Whether a request may be sent again, because its receiver recognizes it."""


class HttpCourier(ABC, Generic[Req, Resp]):
    """The pipelines of a protocol, and the functions that they call."""

    def __init__(self, terms: Terms, tls: Callable[[], ssl.SSLContext] = ssl.create_default_context) -> None:
        """`tls` is called for the first https server."""
        self.terms = terms
        self.addresses = ServerAddresses(tls)
        self.pipelines: Epochs[RequestPipeline[Req, Resp]] = Epochs(lambda: RequestPipeline(self))
        self.bytes_sent = 0

    @property
    def connections(self) -> int:
        """The number of pipelines that have a connection."""
        return sum(pipeline.is_connected for pipeline in self.pipelines)

    def stop(self) -> None:
        """Close all connections; requests in flight are not reported."""
        self.pipelines.end_all()

    # -- called by pipelines before a request leaves

    @abstractmethod
    def url_of(self, request: Req) -> str:
        """Return the URL of the server that a request goes to."""

    @abstractmethod
    def encode(self, request: Req) -> bytes | tuple[bytes, Iterator[bytes]]:
        """Return head and body in one piece, or a head for a chunked body with the pieces of that body.

        UsageError or UnicodeError when no HTTP request can be made of it.
        """

    @abstractmethod
    def expect(self, request: Req, changed: Callable[[], None]) -> Resp:
        """Record that the request leaves now, and return the reader of its response."""

    # -- called by pipelines after a response or a failure

    @abstractmethod
    def arrived(self, response: Resp) -> None:
        """Turn a complete response into an event of the protocol."""

    @abstractmethod
    def failed(self, requests: Sequence[Req], failure: Failure, why: str) -> None:
        """Report that the first of these requests failed, so that those behind it have no response either."""

    def refuse(self, request: Req, failure: Failure, why: str) -> None:
        """Report a request for an epoch that has failed already; it was not sent."""


UNANSWERED: Final[Mapping[Failure, Unanswered]] = {
    each: Unanswered.LOST if each is Failure.BAD_RESPONSE else Unanswered(each.value) for each in Failure
}
"""The reason that a carrier reports for each failure; an unreadable response counts as a lost one."""


class PostCourier(HttpCourier[Req, Resp]):
    """A courier of POSTs, which reports each POST without a response to its protocol separately."""

    def __init__(self, terms: Terms, tls: Callable[[], ssl.SSLContext] = ssl.create_default_context) -> None:
        super().__init__(terms, tls)
        self.posted = 0
        self.answers: Counter[int] = Counter()
        """The number of answered POSTs, by status."""
        self.failures: Counter[Unanswered] = Counter()
        """The number of POSTs without a usable response, by reason."""

    def send(self, request: Req, key: int, epoch: int) -> None:
        """Send a POST behind the earlier ones of its epoch, unless the epoch is over."""
        pipeline = self.pipelines.find(key, epoch)
        if pipeline is not None:
            self.posted += 1
            pipeline.send(request)

    @abstractmethod
    def unanswered(self, request: Req, reason: Unanswered, why: str) -> None:
        """Turn the lack of a response into an event of the protocol."""

    def report(self, request: Req, failure: Failure, why: str) -> None:
        """Count a POST that has no usable response, and hand it to the protocol."""
        reason = UNANSWERED[failure]
        self.failures[reason] += 1
        self.unanswered(request, reason, why)

    def failed(self, requests: Sequence[Req], failure: Failure, why: str) -> None:
        """Report the first request with its failure.

        The peer may have seen the others if it saw the first.
        """
        self.report(requests[0], failure, why)
        if failure.sent:
            failure, why = Failure.LOST, AFTER_A_FAILURE
        for request in requests[1:]:
            self.report(request, failure, why)

    def refuse(self, request: Req, failure: Failure, why: str) -> None:
        """Report a request behind one that failed."""
        self.report(request, failure, why)

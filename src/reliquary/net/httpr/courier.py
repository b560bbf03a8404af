"""Sends the requests of the client agent of HTTPR, with a connection for each channel.

    SendRequest --> the pipeline of its channel and epoch --> ResponseArrived, or RequestFailed once
    HangUp -------> the pipeline ends, and nothing of it is reported afterwards

A request of a newer epoch ends the older one (HR-042, HR-043).  No request is sent twice: its outcome
would be unknown, and only a REPORT can show it.
"""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from reliquary.base.time import Duration
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.http.courier import HttpCourier, Terms
from reliquary.net.http.failures import Failure as HttpFailure
from reliquary.net.http.request_head import Fields, authorization
from reliquary.net.httpr.batches import is_small
from reliquary.net.httpr.bodies import Bodies, EngineBodies
from reliquary.net.httpr.incoming import Incoming
from reliquary.net.httpr.outgoing import HEADERS, chunked_head, pieces, whole
from reliquary.protocols.httpr.codec.values import NO_ERROR, Command
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.events import Failure, RequestFailed, ResponseArrived

NO_CREDENTIALS: Final[Mapping[str, str]] = MappingProxyType({})
FAILURES: Final[Mapping[HttpFailure, Failure]] = {
    HttpFailure.NO_ADDRESS: Failure.NO_ADDRESS,
    HttpFailure.NO_CONNECTION: Failure.NO_CONNECTION,
    HttpFailure.NOT_TRUSTED: Failure.NOT_TRUSTED,
    HttpFailure.LOST: Failure.LOST,
    HttpFailure.TIMED_OUT: Failure.TIMED_OUT,
    HttpFailure.BAD_RESPONSE: Failure.NOT_HTTPR,
}

Submit = Callable[[ResponseArrived | RequestFailed], None]


class Courier(HttpCourier[SendRequest, Incoming]):
    """Sends the requests of `SendRequest`, and closes connections for `HangUp`."""

    def __init__(
        self,
        submit: Submit,
        bodies: Bodies,
        *,
        response_time: Duration,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        credentials: Mapping[str, str] = NO_CREDENTIALS,
    ) -> None:
        """`submit` takes the outcome of each request; `tls` is called for the first https server.

        `credentials` authenticate this client to servers, by origins such as `https://host`; no other server
        gets them.
        """
        super().__init__(Terms(response_time=response_time, overdue="nothing came"), tls)
        self._credentials = credentials
        self._headers_for = lru_cache(maxsize=1024)(self.headers_for)
        self._submit = submit
        self.bodies = bodies
        self.home = ""
        """The URI of the agent under which peers reach local queues; known when the server listens."""
        self.requests: Counter[Command] = Counter()
        """The number of requests that were sent, by command."""
        self.answers: Counter[int] = Counter()
        """The number of complete responses, by their error; 0 for none."""
        self.messages_out = 0
        """The messages that were sent, some perhaps more than once."""
        self.messages_in = 0
        """The messages that were fetched, some perhaps more than once."""
        self.failures: Counter[Failure] = Counter()
        """The number of epochs that ended with a failure, by reason."""
        self.bytes_received = 0
        """The bytes of the bodies of complete responses."""

    def send(self, request: SendRequest) -> None:
        """Send a request after the earlier ones of its epoch."""
        pipeline = self.pipelines.find(request.channel, request.epoch)
        if pipeline is not None:
            pipeline.send(request)

    def hang_up(self, effect: HangUp) -> None:
        """Close a connection; requests in flight are not reported."""
        self.pipelines.end(effect.channel, effect.epoch)

    # -- called by pipelines before a request leaves

    def url_of(self, request: SendRequest) -> str:
        """Return the URL of the responder."""
        return request.url

    def encode(self, request: SendRequest) -> bytes | tuple[bytes, Iterator[bytes]]:
        """Return a small request in one piece, another one as a head and pieces."""
        headers = self._headers_for(request.url)
        if is_small(request.batch):
            return whole(request, self.home, headers)
        return chunked_head(request, headers), pieces(request, self.home, self.bodies.read)

    def headers_for(self, url: str) -> Fields:
        """Return the HTTP header fields for a server."""
        return (*HEADERS, *authorization(url, self._credentials))

    def expect(self, request: SendRequest, changed: Callable[[], None]) -> Incoming:
        """Count a request that leaves, and return the reader of its response."""
        self.requests[request.header.command] += 1
        self.messages_out += len(request.batch)
        return Incoming(request, self.bodies, changed)

    # -- called by pipelines after a response or a failure

    def arrived(self, response: Incoming) -> None:
        """Count a complete response, and report it to the machine."""
        event = response.arrived()
        error = event.header.error
        self.answers[NO_ERROR if error is None else error.number] += 1
        self.messages_in += len(event.batch)
        self.bytes_received += response.body_bytes
        self._submit(event)

    def failed(self, requests: Sequence[SendRequest], failure: HttpFailure, why: str) -> None:
        """Report the first request without a response; its event stands also for those behind it."""
        first, reason = requests[0], FAILURES[failure]
        self.failures[reason] += 1
        self._submit(RequestFailed(first.channel, first.epoch, first.number, reason, why))


def plug_in(
    opened: OpenedEngine,
    *,
    response_time: Duration,
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    credentials: Mapping[str, str] = NO_CREDENTIALS,
    on_settled: Callable[[], None] = lambda: None,
) -> Courier:
    """Connect a courier to the requests of an engine.

    The callback runs after each answer and each failure.
    """
    engine = opened.engine

    def submit(event: ResponseArrived | RequestFailed) -> None:
        with suppress(EngineStopped):
            engine.submit(event)
        on_settled()

    bodies = EngineBodies(engine, opened.state)
    courier = Courier(submit, bodies, response_time=response_time, tls=tls, credentials=credentials)
    engine.performers |= {SendRequest: courier.send, HangUp: courier.hang_up}
    return courier

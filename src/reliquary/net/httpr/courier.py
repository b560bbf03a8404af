"""The courier of HTTPR: the requests of our client agent, each channel on a connection of its own.

    SendRequest --> the route of its channel and epoch --> ResponseArrived, or RequestFailed once
    HangUp -------> the route ends, and nothing of it is told afterwards

A request of a newer epoch ends the older one (HR-042, HR-043): what is late, from either side, means nothing.
"""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from reliquary.base.time import Duration
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.http.dialing import Places
from reliquary.net.httpr.bodies import Bodies, EngineBodies
from reliquary.net.httpr.incoming import Incoming
from reliquary.net.httpr.outgoing import HEADERS, Headers
from reliquary.net.httpr.route import Route
from reliquary.protocols.httpr.codec.values import NO_ERROR, Command
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.events import Failure, RequestFailed, ResponseArrived

NO_TOKENS: Final[Mapping[str, str]] = MappingProxyType({})

Submit = Callable[[ResponseArrived | RequestFailed], None]


class Courier:
    """Performs `SendRequest` and `HangUp`."""

    def __init__(
        self,
        submit: Submit,
        bodies: Bodies,
        *,
        response_time: Duration,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        tokens: Mapping[str, str] = NO_TOKENS,
    ) -> None:
        """`submit` takes what became of each request; `tls` is asked when the first https server is met.

        `tokens` say who we are to servers, by their origins such as `https://host`; nobody else gets them.
        """
        self._tokens = tokens
        self._submit = submit
        self.bodies = bodies
        self.places = Places(tls)
        self.response_time = response_time
        self.home = ""
        """The agent's URI under which others reach our queues; known when the server listens."""
        self._routes: dict[int, Route] = {}
        """By channel."""
        self._past: dict[int, int] = {}
        """The last epoch of each channel that was ended."""
        self.requests: Counter[Command] = Counter()
        """How many were sent, by command."""
        self.answers: Counter[int] = Counter()
        """How many of them have a whole response, by its error; 0 for none."""
        self.messages_out = 0
        """Messages that were sent, some of them perhaps more than once."""
        self.messages_in = 0
        """Messages that were fetched, some of them perhaps more than once."""
        self.failures: Counter[Failure] = Counter()
        """How many epochs ended with a failure, by reason."""
        self.bytes_sent = 0
        self.bytes_received = 0
        """Bodies of whole responses."""

    @property
    def connections(self) -> int:
        """How many channels have a connection."""
        return sum(route.is_connected for route in self._routes.values())

    def headers_for(self, url: str) -> Headers:
        """The fields that HTTP has for a server."""
        parts = urlsplit(url)
        token = self._tokens.get(f"{parts.scheme}://{parts.netloc}")
        return HEADERS if token is None else (*HEADERS, (b"authorization", b"Bearer " + token.encode()))

    def send(self, request: SendRequest) -> None:
        """Send a request behind those that its epoch was given before."""
        if request.epoch <= self._past.get(request.channel, -1):
            return
        route = self._routes.get(request.channel)
        if route is None or route.epoch != request.epoch:
            self.hang_up(HangUp(request.channel, request.epoch - 1))
            route = self._routes[request.channel] = Route(self, request.epoch)
        route.send(request)

    def hang_up(self, effect: HangUp) -> None:
        """Close a connection; nobody is told of what was in flight."""
        self._past[effect.channel] = max(effect.epoch, self._past.get(effect.channel, -1))
        route = self._routes.get(effect.channel)
        if route is not None and route.epoch <= effect.epoch:
            del self._routes[effect.channel]
            route.end()

    def stop(self) -> None:
        """Close all connections."""
        for channel, route in list(self._routes.items()):
            self.hang_up(HangUp(channel, route.epoch))

    # -- what routes tell

    def sent(self, request: SendRequest, size: int) -> None:
        """A request leaves, or the first part of it."""
        self.requests[request.header.command] += 1
        self.messages_out += len(request.batch)
        self.bytes_sent += size

    def arrived(self, incoming: Incoming) -> None:
        """A response is whole."""
        event = incoming.arrived()
        error = event.header.error
        self.answers[NO_ERROR if error is None else error.number] += 1
        self.messages_in += len(event.batch)
        self.bytes_received += incoming.bytes
        self._submit(event)

    def failed(self, request: SendRequest, failure: Failure, why: str) -> None:
        """This request has no response, and neither have those behind it."""
        self.failures[failure] += 1
        self._submit(RequestFailed(request.channel, request.epoch, request.number, failure, why))


def plug_in(
    opened: OpenedEngine,
    *,
    response_time: Duration,
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    tokens: Mapping[str, str] = NO_TOKENS,
    told: Callable[[], None] = lambda: None,
) -> Courier:
    """Let an engine's requests be sent; `told` is called with each answer, and each lack of one."""
    engine = opened.engine

    def submit(event: ResponseArrived | RequestFailed) -> None:
        with suppress(EngineStopped):
            engine.submit(event)
        told()

    bodies = EngineBodies(engine, opened.state)
    courier = Courier(submit, bodies, response_time=response_time, tls=tls, tokens=tokens)
    engine.performers |= {SendRequest: courier.send, HangUp: courier.hang_up}
    return courier

"""Implements the web endpoint of WS-ReliableMessaging: envelopes come to /wsrm/<endpoint>.

    request          status
    POST             200 with an envelope, 202 without one, 400 and 500 with a fault: the machine decides
    GET ...?wsdl     200: the endpoint's description, from which tools make a client
    GET              200: one sentence
    other methods    405

    before the machine sees it
    401 403          an unknown token or a wrong password; a page of another site
    413              the body is larger than allowed
    503              the server stops, or the queue manager is not ready

A client authenticates as in the API, by a bearer token or by name and password; without them it is
anonymous. A response may wait until an application has replied.  If the client disconnects before, the
machine gets a `CallerLeft`, so that the reply is not sent to a lost connection.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import partial
from typing import Final
from urllib.parse import quote

from reliquary.base.turn import Warn
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.http import Mount, Refusals, Request, Responder
from reliquary.net.http.trace_fields import read_trace_fields
from reliquary.net.identity.admission import Admission
from reliquary.net.identity.late_body import when_checked
from reliquary.net.identity.passwords import Checking
from reliquary.net.identity.shown import Denied
from reliquary.protocols.wsrm.events import CallerLeft, PostAnswer, PostArrived
from reliquary.protocols.wsrm.policy import wsdl
from reliquary.protocols.wsrm.schemes import ENDPOINT_PATH
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.model.state import State

NO_TYPE: Final = b""
XML: Final = b"text/xml; charset=utf-8"
TEXT: Final = b"text/plain; charset=utf-8"
ALLOW: Final = ((b"allow", b"GET, HEAD, POST"),)
READS: Final = ("GET", "HEAD")
DESCRIPTIONS: Final = (b"wsdl", b"singlewsdl")
"""The queries with which tools request a description, in lower case."""
STOPPING: Final = "the server is stopping"


class Receiving:
    """Takes requests for one engine."""

    def __init__(self, engine: Engine, state: State, settings: WsrmSettings, admission: Admission) -> None:
        self._engine = engine
        self._state = state
        self._settings = settings
        self._admission = admission
        self._stopping = False
        self._waiting: dict[Responder, int] = {}
        """Requests that the machine has not answered, and their caller numbers."""
        self.origin = ""
        """The `http://host[:port]` of the endpoints; known when the server listens."""
        self.authorities: frozenset[str] = frozenset()
        """All host names of this server, `host` and `host:port` in lower case."""
        self.answers: Counter[int] = Counter()
        """The number of answers, by status."""

    @property
    def waiting(self) -> int:
        """The number of requests without an answer."""
        return len(self._waiting)

    def mount(self) -> Mount:
        """Return the mount that hands requests on, with its own limit."""
        return Mount(
            prefix=ENDPOINT_PATH,
            handler=self.take,
            body_bytes=self._settings.largest_message,
            refusals=Refusals({}, self._count_refusal),
            admit=self._admission,
        )

    def stop(self) -> None:
        """Refuse all new requests from now on."""
        self._stopping = True

    def finish(self) -> None:
        """Refuse the waiting requests, because the engine has stopped."""
        waiting, self._waiting = self._waiting, {}
        for responder in waiting:
            self._refuse(responder, 503, STOPPING)

    def take(self, request: Request, responder: Responder) -> None:
        """Take a request to an endpoint."""
        notes = request.notes
        try:
            if notes.route is None:
                notes.trace_context = read_trace_fields(request.fields)
                notes.route = request.mount.admit(request)
        except Checking as why:
            again, deny = partial(self.take, request, responder), partial(self._deny, responder)
            when_checked(why, responder, again, deny)
            return
        except Denied as why:
            self._deny(responder, why)
            return
        if request.method in READS:
            self._describe(request, responder)
        elif request.method != "POST":
            self._refuse(responder, 405, f"{request.method} is not for this path", ALLOW)
        else:
            self._take_envelope(request, responder, notes.route)

    def _take_envelope(self, request: Request, responder: Responder, by: Principal) -> None:
        largest = self._settings.largest_message
        if len(request.body) > largest:
            why = f"a body may have {largest} bytes, this has {len(request.body)}"
            self._refuse(responder, 413, why)
        elif self._stopping:
            self._refuse(responder, 503, STOPPING)
        elif self._state.manager.state is not ManagerState.READY:
            self._refuse(responder, 503, "the queue manager is not ready")
        else:
            self._submit(request, responder, by)

    def _submit(self, request: Request, responder: Responder, by: Principal) -> None:
        engine = self._engine
        caller = engine.caller(partial(self._answer, responder))
        event = PostArrived(
            caller,
            request.path[len(ENDPOINT_PATH) :],
            (request.header(b"content-type") or b"").decode("latin-1"),
            request.body,
            by,
            responder.peer,
            responder.is_secure,
            request.notes.trace_context,
        )
        try:
            engine.submit(event)
        except EngineStopped:
            engine.forget(caller)
            self._refuse(responder, 503, STOPPING)
            return
        self._waiting[responder] = caller
        responder.on_gone(partial(self._left, responder))

    def _answer(self, responder: Responder, answer: object) -> None:
        assert isinstance(answer, PostAnswer), f"no answer to a POST: {answer!r}"
        del self._waiting[responder]
        self.answers[answer.status] += 1
        if answer.why:
            self._warn(answer.status, responder.peer, answer.why)
        responder.respond(answer.status, answer.body, answer.content_type.encode("latin-1"))

    def _left(self, responder: Responder) -> None:
        """Report that the client disconnected before it was answered."""
        caller = self._waiting.pop(responder)
        self._engine.forget(caller)
        with suppress(EngineStopped):
            self._engine.submit(CallerLeft(caller))

    # -- the description of an endpoint

    def _describe(self, request: Request, responder: Responder) -> None:
        name = request.path[len(ENDPOINT_PATH) :]
        endpoint = self._settings.endpoint(name)
        if endpoint is None:
            self._refuse(responder, 404, f"there is no endpoint {name[:200]!r}")
            return
        url = self._origin_for(request, responder) + ENDPOINT_PATH + quote(name, safe="/$")
        self.answers[200] += 1
        if request.query.lower() in DESCRIPTIONS:
            responder.respond(200, wsdl(name, url, endpoint, self._settings), XML)
        else:
            text = f"This is an endpoint of WS-ReliableMessaging. Its description is {url}?wsdl\n"
            responder.respond(200, text.encode(), TEXT)

    def _origin_for(self, request: Request, responder: Responder) -> str:
        """Return the origin that the client used, if it is another name of this server.

        Otherwise the usual one.
        """
        host = (request.header(b"host") or b"").decode("latin-1").lower()
        if host not in self.authorities or host == self.origin.partition("://")[2].lower():
            return self.origin
        return f"{'https' if responder.is_secure else 'http'}://{host}"

    # -- refusals

    def _deny(self, responder: Responder, why: Denied) -> None:
        responder.slow_down(why.wait)
        self._refuse(responder, why.status, str(why), why.headers)

    def _refuse(
        self, responder: Responder, status: int, why: str, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        self._count_refusal(status, responder.peer, why)
        responder.respond(status, f"{why}\n".encode(), TEXT, headers)

    def _count_refusal(self, status: int, peer: str, why: str) -> None:
        self.answers[status] += 1
        self._warn(status, peer, why)

    def _warn(self, status: int, peer: str, why: str) -> None:
        self._engine.warn(Warn(f"WS-RM from {peer or 'an unknown peer'}", f"answered with {status}", why))

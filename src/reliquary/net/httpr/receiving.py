"""Implements the web endpoint of the server agent: HTTPR answers a POST to /httpr/<service> with status 200.

    a request is read while it comes (`arrival`), its answer is encoded when it leaves (`batches`)
    no POST                        405
    no HTTPR                       error 519
    not ready, stopping, stopped   errors 513 and 514: nothing is taken, and the session ends

Clients authenticate as in the API, by a bearer token or by name and password; a client without them is
anonymous.  A client with an unknown token or a wrong password, or a request that a browser sends for a page
of another site, gets error 525.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.turn import Event, Warn
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.http import BodySink, Mount, Request, Responder
from reliquary.net.httpr.arrival import Arrival, Departure, OtherMethod
from reliquary.net.httpr.batches import is_small, pieces, whole
from reliquary.net.httpr.bodies import Bodies
from reliquary.net.httpr.intake import Intake
from reliquary.net.identity.admission import Admission
from reliquary.net.identity.late_body import LateBody
from reliquary.net.identity.passwords import Checking
from reliquary.net.identity.shown import Denied
from reliquary.protocols.httpr.addresses import PREFIX, own_agent
from reliquary.protocols.httpr.codec.headers import encode_response
from reliquary.protocols.httpr.codec.values import (
    FETCHES,
    NO_ERROR,
    BatchLimits,
    Carried,
    Command,
    Disposition,
    Error,
    ErrorNumber,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Answer, ConnectionGone, RequestArrived, RequestBegun
from reliquary.protocols.httpr.reasons import reason_fields
from reliquary.protocols.httpr.server.sessions import limits_of
from reliquary.protocols.httpr.state import State as HttprState
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.security.principals import ANONYMOUS
from reliquary.queueing.model.state import State

OCTETS: Final = b"application/octet-stream"
NO_STORE: Final = ((b"cache-control", b"no-store"),)


class Receiving:
    """Takes requests of HTTPR for one engine."""

    service_at: Final = len(PREFIX)

    def __init__(
        self, engine: Engine, state: State, httpr: HttprState, bodies: Bodies, admission: Admission
    ) -> None:
        self._engine = engine
        self._state = state
        self._httpr = httpr
        self._admission = admission
        self.bodies = bodies
        self.home = ""
        """The URI of the agent under which peers reach local queues; known when the server listens."""
        self._stopping = False
        self.stopped = False
        self._waiting: dict[int, dict[int, Arrival]] = {}  # connection, caller: requests without an answer
        self.requests: Counter[Command | None] = Counter()
        """The number of requests, by command; None for a request that could not be read."""
        self.answers: Counter[int] = Counter()
        """The number of answers with each error, 0 for none."""
        self.messages_in = 0
        """The messages of accepted batches."""
        self.messages_out = 0
        """The messages that were fetched, some perhaps more than once."""

    def mount(self) -> Mount:
        """Return the mount that hands requests on while they come."""
        return Mount(prefix=PREFIX, begin=self.begin, ended=self._gone, admit=self._admission)

    def stop(self) -> None:
        """Refuse all new requests from now on."""
        self._stopping = True

    def finish(self) -> None:
        """Answer the waiting requests, because the engine has stopped and no body can be read any more."""
        self.stopped = True
        for arrivals in list(self._waiting.values()):
            for arrival in list(arrivals.values()):
                self._respond(arrival, self._stopped(arrival))
        self._waiting.clear()

    # -- a request comes

    def begin(self, request: Request, responder: Responder) -> BodySink:
        """Return the sink of a request whose head has come."""
        if request.method != "POST":
            return OtherMethod(responder)
        try:
            by = request.mount.admit(request)
        except Checking as why:
            again = partial(self.begin, request, responder)
            return LateBody(responder, why, again, partial(self._begin_denied, request, responder))
        except Denied as why:
            return self._begin_denied(request, responder, why)
        return Arrival(self, request, responder, by, "")

    def _begin_denied(self, request: Request, responder: Responder, why: Denied) -> BodySink:
        """Return the sink of a request whose client may not send it: its header is read for the answer."""
        responder.slow_down(why.wait)
        return Arrival(self, request, responder, ANONYMOUS, str(why))

    def limits_for(self, service: str) -> Callable[[RequestHeader], BatchLimits]:
        """Return the function for the limits of a batch by the header of its request."""
        return partial(limits_of, self._httpr, service)

    def begun(self, arrival: Arrival, header: RequestHeader) -> None:
        """Report a header whose batch is still arriving: older connections of its channel end (HR-041)."""
        self._tell(RequestBegun(arrival.connection, arrival.service, header, arrival.by))

    def refusal(self, denied: str) -> tuple[ErrorNumber, str] | None:
        """Return the reason why a request is not taken now, once its header has come; None where it
        is taken.
        """
        if denied:
            return ErrorNumber.AGENT_SECURITY, denied
        if self._stopping:
            return ErrorNumber.RESOURCE_MANAGER_TERMINATING, "the server is stopping"
        if self._state.manager.state is not ManagerState.READY:
            return ErrorNumber.RESOURCE_MANAGER_UNAVAILABLE, "the queue manager is not ready"
        return None

    def arrived(self, arrival: Arrival, intake: Intake) -> None:
        """Report a complete request to the machine."""
        self._submit(arrival, tuple(intake.batch), intake.disposition, None, "")

    def failed(self, arrival: Arrival, fault: ErrorNumber, why: str) -> None:
        """Report a request that is refused; the machine makes the answer."""
        self._submit(arrival, (), None, fault, why)

    def _submit(
        self,
        arrival: Arrival,
        batch: tuple[Carried, ...],
        disposition: Disposition | None,
        fault: ErrorNumber | None,
        why: str,
    ) -> None:
        header, connection = arrival.header, arrival.connection
        command = None if header is None else header.command
        self.requests[command] += 1
        caller = arrival.caller = self._engine.caller(partial(self._answer, arrival))
        event = RequestArrived(
            caller, connection, arrival.service, header, batch, disposition, fault, why, arrival.by
        )
        try:
            self._engine.submit(event)
        except EngineStopped:  # large bodies without a message are removed at the next start
            self._engine.forget(caller)
            self._respond(arrival, self._stopped(arrival))
            return
        self._waiting.setdefault(connection, {})[caller] = arrival
        if command in FETCHES:
            arrival.responder.on_gone(partial(self._tell, ConnectionGone(connection)))

    def _stopped(self, arrival: Arrival) -> Answer:
        """Return the answer of a server whose machine has stopped; a REPORT shows the outcome of a batch."""
        header = arrival.header
        responder = ""
        if header is not None and not header.session_id and self._httpr.origin:
            responder = own_agent(self._httpr.origin, arrival.service)
        error = Error.of(ErrorNumber.RESOURCE_MANAGER_TERMINATING)
        why = "the server has stopped"
        said = ResponseHeader(
            responder=responder, session=SessionMark.END, error=error, product=reason_fields(why)
        )
        return Answer(said, why=why)

    # -- the answer

    def _answer(self, arrival: Arrival, answer: object) -> None:
        assert isinstance(answer, Answer), f"no answer to a request: {answer!r}"
        waiting = self._waiting.get(arrival.connection)
        if waiting is not None:
            waiting.pop(arrival.caller, None)
        self._respond(arrival, answer)

    def _respond(self, arrival: Arrival, answer: Answer) -> None:
        self._count(arrival, answer)
        responder, header = arrival.responder, answer.header
        try:
            said = encode_response(header)
            if header.transaction_id is None:
                responder.respond(200, said, OCTETS, NO_STORE)
            elif is_small(answer.batch):
                responder.respond(200, whole(said, answer.batch, self.home), OCTETS, NO_STORE)
            else:
                responder.begin(200, OCTETS, NO_STORE)
                parts = pieces(said, answer.batch, self.home, self.bodies.read)
                Departure(self, responder, parts).go_on()
        except (UsageError, UnicodeError) as why:
            self.broken(responder, str(why))

    def _count(self, arrival: Arrival, answer: Answer) -> None:
        header, asked = answer.header, arrival.header
        self.messages_out += len(answer.batch)
        if header.error is not None:
            self.answers[header.error.number] += 1
            said = f"refused with {header.error.number} {header.error.text}"
            self._warn(arrival.responder, said, answer.why)
        else:
            self.answers[NO_ERROR] += 1
            taken = header.outcome is Outcome.COMMIT and asked is not None
            if taken and asked is not None and header.completed == asked.transaction_id:
                self.messages_in += arrival.count

    def broken(self, responder: Responder, why: str) -> None:
        """Cut a response that cannot be completed, so that no client takes it for complete."""
        self._warn(responder, "a response was cut off", why)
        responder.abort()

    # -- the rest

    def _gone(self, connection: int) -> None:
        """Drop the requests of a connection that has ended."""
        for caller in self._waiting.pop(connection, ()):
            self._engine.forget(caller)
        self._tell(ConnectionGone(connection))

    def _tell(self, event: Event) -> None:
        with suppress(EngineStopped):
            self._engine.submit(event)

    def _warn(self, responder: Responder, what: str, why: str) -> None:
        self._engine.warn(Warn(f"HTTPR from {responder.peer or 'an unknown peer'}", what, why))

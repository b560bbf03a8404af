"""Implements the web endpoint of SRMP, [MC-MQSRM] 2.1.1: it answers a POST to /msmq/... by a status line.

    status   meaning for the sender
    200      accepted, and on disk if it is recoverable
    400      refused permanently: do not send it again
    405      the method is not POST
    500 503  refused for now: try again later

Clients do not authenticate here; the access lists of queues need an entry for everyone.  The message
names its queue, so the path is only checked for its beginning, /msmq/.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Final

from reliquary.base.turn import Warn
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.http import Mount, Refusals, Request, Responder
from reliquary.net.http.trace_fields import read_trace_fields
from reliquary.protocols.srmp.events import PostAnswer, PostArrived
from reliquary.protocols.srmp.refusals import refusal_field
from reliquary.queueing.model.message import HOP_LIMIT
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.state import State

PREFIX: Final = "/msmq/"
STATUSES: Final = (200, 400, 405, 500, 503)
"""All statuses that this endpoint answers with."""
NO_TYPE: Final = b""
ALLOW: Final = ((b"allow", b"POST"),)
KNOWN_STATUSES: Final = {
    408: 503,  # too slow: the sender may try again
    413: 400,  # F-06: it will be too large in every attempt
    431: 400,
    501: 400,
}
"""The statuses of the listener that are replaced, because senders of SRMP do not know them."""
MOST_DIGITS: Final = 3
"""The most digits of the number in Max-Forwards."""


def nothing(_: Request, responder: Responder) -> None:
    """Answer requests for other paths, on a listener that serves only SRMP."""
    responder.respond(404, b"", NO_TYPE)


def _hops(left: bytes) -> int:
    """Return how often a message was forwarded, from the number of times that it may still be forwarded."""
    return max(HOP_LIMIT - int(left), 0) if left.isdigit() and len(left) <= MOST_DIGITS else 0


def _read_head(request: Request) -> tuple[str, int, str]:
    """Return the content type, the number of forwards, and the trace of the message."""
    content_type, hops = "", 0
    for name, value in request.headers:
        if name == b"content-type" and not content_type:
            content_type = value.decode("latin-1")
        elif name == b"max-forwards":  # a peer that does not count forwards omits it
            hops = _hops(value)
    return content_type, hops, read_trace_fields(request.fields)


class Receiving:
    """Takes POSTs for one engine."""

    def __init__(self, engine: Engine, state: State, largest: int) -> None:
        self._engine = engine
        self._state = state
        self._largest = largest
        self._stopping = False
        self.answers: Counter[int] = Counter()
        """The number of answered POSTs, by status."""

    def mount(self) -> Mount:
        """Return the mount that hands POSTs on, with its own refusals."""
        return Mount(
            prefix=PREFIX,
            any_case=True,
            handler=self.take,
            body_bytes=self._largest,
            refusals=Refusals(KNOWN_STATUSES, self._refused),
        )

    def stop(self) -> None:
        """Refuse new POSTs: senders try again later."""
        self._stopping = True

    def take(self, request: Request, responder: Responder) -> None:
        """Take a request for this endpoint."""
        if request.method != "POST":
            self._refused(405, responder.peer, f"{request.method} is not POST")  # F-01
            responder.respond(405, b"", NO_TYPE, ALLOW)
        elif len(request.body) > self._largest:
            why = f"a body may have {self._largest} bytes, this has {len(request.body)}"
            self._answer(responder, PostAnswer(400, why))
        elif self._stopping:
            self._answer(responder, PostAnswer(503, "the server is stopping"))
        elif self._state.manager.state is not ManagerState.READY:
            self._answer(responder, PostAnswer(503, "the queue manager is not ready"))
        else:
            self._submit(request, responder)

    def _submit(self, request: Request, responder: Responder) -> None:
        notes = request.notes
        if notes.route is None:
            notes.route = _read_head(request)
        content_type, hops, trace = notes.route
        caller = self._engine.caller(partial(self._answer, responder))
        try:
            self._engine.submit(PostArrived(caller, content_type, request.body, hops, request.peer, trace))
        except EngineStopped:
            self._engine.forget(caller)
            self._answer(responder, PostAnswer(503, "the server is stopping"))

    def _answer(self, responder: Responder, answer: object) -> None:
        assert isinstance(answer, PostAnswer), f"no answer to a POST: {answer!r}"
        if answer.status == 200:
            self.answers[200] += 1
        else:
            self._refused(answer.status, responder.peer, answer.why)
        words = () if answer.status == 200 else (refusal_field(answer.reason, answer.why),)
        responder.respond(answer.status, b"", NO_TYPE, words)

    def _refused(self, status: int, peer: str, why: str) -> None:
        self.answers[status] += 1
        self._engine.warn(Warn(f"SRMP from {peer or 'an unknown peer'}", f"refused with {status}", why))

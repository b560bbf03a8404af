"""Holds the state that all handlers of the data plane share, and returns answers to their requests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import msgspec
from msgspec.structs import force_setattr

from reliquary.base.chance import Chance
from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.api.errors import Refused, refuse, refuse_stopping
from reliquary.net.api.numbers import Tickets
from reliquary.net.http import Request, Responder
from reliquary.net.tcp.budget import SMALL
from reliquary.queueing.features import refusal
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Answer, AwaitDisk, CallerGone
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.read import ANSWER_BYTES

OnAct = Callable[[Principal, str, str, str], None]
"""The type of a callback that takes the user, its address, the name of an act and the object."""


class Asking:
    """The engine as clients reach it: every event carries the user of its request."""

    __slots__ = ("_submit", "by", "caller", "forget")

    def __init__(self, engine: Engine) -> None:
        self.caller = engine.caller
        self.forget = engine.forget
        self._submit = engine.submit
        self.by: Principal = ANONYMOUS
        """The user of the current request; a handler ends with a request before the next one comes."""

    def submit(self, event: Event) -> None:
        """Submit an event to the engine with the user of the current request."""
        if hasattr(event, "by"):
            force_setattr(event, "by", self.by)  # the event is new, so no other code has a reference to it
        self._submit(event)


class Context:
    """The engine, the state for views, and the identifiers of handles that clients use."""

    __slots__ = ("engine", "on_act", "state", "stopping", "tickets", "version")

    def __init__(self, engine: Engine, state: State, chance: Chance, version: str) -> None:
        self.engine = Asking(engine)
        self.state = state
        self.tickets = Tickets(chance)
        self.version = version
        self.stopping = False
        """Whether the server has begun to stop: new requests are refused."""
        self.on_act: OnAct = lambda *_: None
        """The callback for acts of administrators on the data plane."""

    def handle_of(self, queue: str, handle: str | None) -> int | str:
        """Return the open handle that a request names, or the queue of the path."""
        if handle is None:
            return queue
        number = self.tickets.read("handle", handle)
        descriptor = self.state.open.handles.get(number)
        if descriptor is not None and not destinations.same(self.state, descriptor.format_name, queue):
            raise UsageError(f"the handle is open on {descriptor.format_name!r}, not on {queue!r}")
        return number

    def cursor_of(self, cursor: str | None) -> int:
        """Return the cursor that a request names, or 0."""
        return 0 if cursor is None else self.tickets.read("cursor", cursor)

    def gone(self, caller: int) -> None:
        """End a waiting read, because its client has disconnected."""
        self.engine.forget(caller)
        with suppress(EngineStopped):  # the engine ends all waits when it stops
            self.engine.submit(CallerGone(caller))

    def refuse(self, responder: Responder, answer: Answer) -> None:
        """Answer with a status that is not OK."""
        if self.stopping and answer.status is HResult.OPERATION_CANCELLED:
            refuse_stopping(responder)
        else:
            refuse(responder, answer.status, answer.why)

    def check_right(self, make: Callable[[int], events.Request]) -> None:
        """Refuse an event now if its user lacks the right, before the body is decoded at high cost."""
        why = refusal(self.state, msgspec.structs.replace(make(0), by=self.engine.by))
        if why:
            raise Refused(HResult.ACCESS_DENIED, why)

    def expect_answer(self, responder: Responder, source: int | str, count: int, lookup_id: int = -1) -> None:
        """Count the answer of a read before it is made; raise PeerFault if too many bytes wait."""
        queue = self._queue_of(source)
        size = 0 if queue is None else queue.expected_bytes(count, ANSWER_BYTES, lookup_id)
        if size > SMALL:
            responder.expect(size)

    def _queue_of(self, source: int | str) -> QueueState | None:
        if isinstance(source, str):
            return destinations.find(self.state, source)
        descriptor = self.state.open.handles.get(source)
        return None if descriptor is None else self.state.queues.get(descriptor.queue or 0)

    def settled(self, seen: Callable[[object], None]) -> None:
        """Call `seen` when all state that is visible now is on disk."""
        self.engine.submit(AwaitDisk(self.engine.caller(seen)))

    def submit(self, responder: Responder, make: Callable[[int], Event]) -> None:
        """Submit an event whose success is answered by 204."""
        self.engine.submit(make(self.engine.caller(partial(self._done, responder))))

    def _done(self, responder: Responder, answer: object) -> None:
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        if answer.status is HResult.OK:
            responder.respond(204, b"")
        else:
            self.refuse(responder, answer)


def parameters(request: Request, *known: str) -> dict[str, str]:
    """Return the parameters of the query; an unknown parameter is refused by name."""
    if not request.query:
        return {}
    found = request.parameters()
    for name in found:
        if name not in known:
            allowed = ", ".join(known) if known else "none"
            raise UsageError(f"the query has no parameter {name[:80]!r}; there is {allowed}")
    return found

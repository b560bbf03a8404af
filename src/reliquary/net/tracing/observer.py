"""Makes the spans of events, answers and effects.

    send       SendMessages --> its answer            producer, or server where the client sent a context
    receive    ReceiveMessages --> messages           consumer, from the time of the request
    arrive     a request of a peer --> its answer     server
    forward    a request to a peer --> its end        client
    sync       inside send and arrive                 internal: the sync that their answer waited for

The context of a message is that of its sender and never changes, so all its spans are in one trace.  A
message that comes from a client without a context gets that of its `send`; a message of a peer without a
context is not traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import unquote

from msgspec.structs import replace
from opentelemetry.trace import Span, SpanKind, use_span

from reliquary.base.hresult import HResult
from reliquary.base.turn import Effect, Event
from reliquary.engine.loop import Answered, Engine
from reliquary.net.tracing.spans import Attributes, Spans, text_of
from reliquary.protocols.httpr.attributes import TRACE
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.effects import HangUp as HttprHangUp
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import Answer as HttprAnswer
from reliquary.protocols.httpr.events import RequestArrived, RequestFailed, ResponseArrived
from reliquary.protocols.srmp.effects import EndSession
from reliquary.protocols.srmp.effects import Post as SrmpPost
from reliquary.protocols.srmp.events import PostAnswer as SrmpAnswer
from reliquary.protocols.srmp.events import PostArrived as SrmpArrived
from reliquary.protocols.srmp.events import PostEnded as SrmpEnded
from reliquary.protocols.wsrm.effects import HangUp as WsrmHangUp
from reliquary.protocols.wsrm.effects import Post as WsrmPost
from reliquary.protocols.wsrm.events import PostAnswer as WsrmAnswer
from reliquary.protocols.wsrm.events import PostArrived as WsrmArrived
from reliquary.protocols.wsrm.events import PostEnded as WsrmEnded
from reliquary.queueing.model.events import (
    Answer,
    LookUpMessage,
    Received,
    ReceiveMessages,
    SendMessages,
    Sent,
)
from reliquary.queueing.model.state import State
from reliquary.wire import trace_context

MOST_FORWARDS: Final = 100_000
"""The most requests to peers without an end; above it, waiting ones are forgotten."""
_TRACE_LINE: Final = f"{TRACE}:"

Key = tuple[str, int, int, int]
"""The protocol, the outgoing queue or channel, its epoch, and the request."""


class Observer:
    """Makes spans of the events, answers and effects of one engine."""

    def __init__(self, engine: Engine, state: State, spans: Spans) -> None:
        self._engine = engine
        self._state = state
        self._spans = spans
        self._forwards: dict[Key, Span] = {}
        """The unfinished requests to peers, by the key that their end names."""
        self._rules: dict[type[Event], Callable[[Any], Event]] = {
            SendMessages: self._send,
            ReceiveMessages: self._receive,
            LookUpMessage: self._receive,
            SrmpArrived: self._srmp_arrived,
            WsrmArrived: self._wsrm_arrived,
            RequestArrived: self._httpr_arrived,
            SrmpEnded: self._srmp_ended,
            WsrmEnded: self._wsrm_ended,
            ResponseArrived: self._httpr_ended,
            RequestFailed: self._httpr_failed,
        }

    def attach(self) -> None:
        """Observe all events from now on, and all effects whose performers are known."""
        self._engine.observer = self.see
        begins: dict[type[Effect], Callable[[Any], None]] = {
            SrmpPost: self._srmp_post,
            WsrmPost: self._wsrm_post,
            SendRequest: self._httpr_request,
            EndSession: lambda effect: self._cut("srmp", effect.session, effect.epoch),
            WsrmHangUp: lambda effect: self._cut("wsrm", effect.connection, effect.epoch),
            HttprHangUp: lambda effect: self._cut("httpr", effect.channel, effect.epoch),
        }
        performers = self._engine.performers
        performers |= {
            effect: _both(begin, performers[effect])
            for effect, begin in begins.items()
            if effect in performers
        }

    def see(self, event: Event) -> Event:
        """Begin or end the span of an event, and return the event that the engine takes."""
        rule = self._rules.get(type(event))
        return event if rule is None else rule(event)

    # -- clients

    def _send(self, event: SendMessages) -> Event:
        if not event.messages:
            return event
        given = [each.trace_context for each in event.messages if each.trace_context]
        kind = SpanKind.SERVER if len(given) == len(event.messages) else SpanKind.PRODUCER
        about = _operation("send", len(event.messages))
        span = self._spans.start("send", self._name(event.queue), kind, given, about)
        if kind is SpanKind.PRODUCER:
            own = text_of(span)
            messages = [
                each if each.trace_context else each.changed(trace_context=own) for each in event.messages
            ]
            event = replace(event, messages=tuple(messages))
        self._until_answered(event.to, span, _sent)
        return event

    def _receive(self, event: ReceiveMessages | LookUpMessage) -> Event:
        if isinstance(event, LookUpMessage) and event.peek:
            return event
        asked, place = self._spans.now(), self._name(event.queue)

        def wrap(answered: Answered) -> Answered:
            def received(answer: object) -> None:
                answered(answer)
                if isinstance(answer, Received) and answer.messages:
                    self._received(place, answer, asked)

            return received

        self._engine.intercept(event.to, wrap)
        return event

    def _received(self, place: str, answer: Received, asked: int) -> None:
        senders = [context for each in answer.messages if (context := each.message.trace_context)]
        if not senders:
            return
        about = _operation("receive", len(answer.messages))
        if len(answer.messages) == 1:
            about["messaging.message.id"] = str(answer.messages[0].message.identifier)
        self._spans.end(self._spans.start("receive", place, SpanKind.CONSUMER, senders, about, asked))

    def _name(self, queue: int | str) -> str:
        """Return the name of a queue by its name or its handle."""
        if isinstance(queue, str):
            return queue
        found = self._state.open.handles.get(queue)
        return "" if found is None else str(found.format_name)

    # -- peers that send

    def _srmp_arrived(self, event: SrmpArrived) -> Event:
        if event.trace_context:
            self._arrive(event.to, "srmp", "", [event.trace_context], _srmp_answered, peer=event.peer)
        return event

    def _wsrm_arrived(self, event: WsrmArrived) -> Event:
        if event.trace_context:
            senders = [event.trace_context]
            self._arrive(event.to, "wsrm", event.endpoint, senders, _wsrm_answered, peer=event.peer)
        return event

    def _httpr_arrived(self, event: RequestArrived) -> Event:
        senders = [context for each in event.batch if (context := _context_in(each))]
        if senders:
            count = len(event.batch)
            self._arrive(event.to, "httpr", event.service, senders, _httpr_answered, count=count)
        return event

    def _arrive(
        self,
        to: int,
        protocol: str,
        place: str,
        senders: Sequence[str],
        outcome: Outcome,
        *,
        count: int = 1,
        peer: str = "",
    ) -> None:
        about = _operation("", count)
        about["network.protocol.name"] = protocol
        if peer:
            about["network.peer.address"] = peer
        self._until_answered(to, self._spans.start("arrive", place, SpanKind.SERVER, senders, about), outcome)

    def _until_answered(self, to: int, span: Span, outcome: Outcome) -> None:
        """End a span with the answer to a caller, which is given while the span is current."""
        since = self._spans.now()

        def wrap(answered: Answered) -> Answered:
            def ended(answer: object) -> None:
                self._spans.add_sync(span, since)
                with use_span(span):
                    answered(answer)
                self._spans.end(span, *outcome(span, answer))

            return ended

        self._engine.intercept(to, wrap)

    # -- peers that messages are sent to

    def _srmp_post(self, effect: SrmpPost) -> None:
        if effect.trace_context:
            place = f"{effect.authority}{effect.target}"
            self._forward(
                ("srmp", effect.session, effect.epoch, effect.lookup_id), place, [effect.trace_context]
            )

    def _wsrm_post(self, effect: WsrmPost) -> None:
        if effect.trace_context:
            key = ("wsrm", effect.connection, effect.epoch, effect.ticket)
            self._forward(key, effect.url, [effect.trace_context])

    def _httpr_request(self, effect: SendRequest) -> None:
        senders = [context for each in effect.batch if (context := each.trace_context)]
        if senders:
            key = ("httpr", effect.channel, effect.epoch, effect.number)
            self._forward(key, effect.url, senders, len(effect.batch))

    def _forward(self, key: Key, place: str, senders: Sequence[str], count: int = 1) -> None:
        if len(self._forwards) >= MOST_FORWARDS:
            self._forwards.clear()
        about = _operation("send", count)
        about["network.protocol.name"] = key[0]
        self._forwards[key] = self._spans.start("forward", place, SpanKind.CLIENT, senders, about)

    def _srmp_ended(self, event: SrmpEnded) -> Event:
        failure = _of_status(event.status) if event.failure is None else event.failure.value
        self._ended(("srmp", event.session, event.epoch, event.lookup_id), event.status, failure, event.why)
        return event

    def _wsrm_ended(self, event: WsrmEnded) -> Event:
        failure = _of_status(event.status) if event.failure is None else event.failure.value
        self._ended(("wsrm", event.connection, event.epoch, event.ticket), event.status, failure, event.why)
        return event

    def _httpr_ended(self, event: ResponseArrived) -> Event:
        error = event.header.error
        failure = "" if error is None else str(error.number)
        why = "" if error is None else error.text
        self._ended(("httpr", event.channel, event.epoch, event.number), 0, failure, why)
        return event

    def _httpr_failed(self, event: RequestFailed) -> Event:
        before = ("httpr", event.channel, event.epoch)
        for key in [each for each in self._forwards if each[:3] == before and each[3] >= event.number]:
            self._ended(key, 0, event.failure.value, event.why)
        return event

    def _cut(self, protocol: str, number: int, epoch: int) -> None:
        """Forget the requests of a closed connection, whose end is not reported."""
        for key in [each for each in self._forwards if each[:2] == (protocol, number) and each[2] <= epoch]:
            self._ended(key, 0, "closed", "the connection was closed before the request had an answer")

    def _ended(self, key: Key, status: int, failure: str, why: str) -> None:
        span = self._forwards.pop(key, None)
        if span is not None:
            if status:
                span.set_attribute("http.response.status_code", status)
            self._spans.end(span, failure, why)


Outcome = Callable[[Span, object], tuple[str, str]]
"""The type of a reader of answers: it returns the failure as a word and a sentence, empty without one."""


def _both(begin: Callable[[Any], None], perform: Callable[[Any], None]) -> Callable[[Effect], None]:
    def performed(effect: Effect) -> None:
        begin(effect)
        perform(effect)

    return performed


def _operation(kind: str, count: int) -> Attributes:
    about: Attributes = {"messaging.operation.type": kind} if kind else {}
    return about | {"messaging.batch.message_count": count} if count != 1 else about


def _context_in(carried: Carried) -> str:
    """Return the context in the header of an HTTPR message."""
    if _TRACE_LINE not in carried.header:
        return ""
    line = next((each for each in carried.header.splitlines() if each.startswith(_TRACE_LINE)), "")
    return trace_context.read(unquote(line.removeprefix(_TRACE_LINE).strip()))


def _of_status(status: int) -> str:
    return str(status) if status >= 400 else ""


def _sent(span: Span, answer: object) -> tuple[str, str]:
    assert isinstance(answer, Answer), f"no answer: {answer!r}"
    if isinstance(answer, Sent) and len(answer.lookup_ids) == 1:
        span.set_attribute("messaging.message.id", str(answer.identifiers()[0]))
    return ("", "") if answer.status is HResult.OK else (answer.status.name, answer.why)


def _srmp_answered(span: Span, answer: object) -> tuple[str, str]:
    assert isinstance(answer, SrmpAnswer), f"no answer: {answer!r}"
    span.set_attribute("http.response.status_code", answer.status)
    return _of_status(answer.status), answer.why


def _wsrm_answered(span: Span, answer: object) -> tuple[str, str]:
    assert isinstance(answer, WsrmAnswer), f"no answer: {answer!r}"
    span.set_attribute("http.response.status_code", answer.status)
    return _of_status(answer.status), answer.why


def _httpr_answered(_: Span, answer: object) -> tuple[str, str]:
    assert isinstance(answer, HttprAnswer), f"no answer: {answer!r}"
    error = answer.header.error
    return ("", "") if error is None else (str(error.number), answer.why)

"""Makes spans, with their parents, links, times and attributes.

The names of attributes are those of OpenTelemetry's conventions for messaging.  A span about one message is a
child of the span that sent it; a span about several has a link to each sender.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter_ns
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    TraceState,
    format_span_id,
    format_trace_id,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from reliquary.engine.clock import Clock
from reliquary.engine.syncs import Syncs
from reliquary.wire.trace_context import TRACEPARENT, TRACESTATE, joined, split

SYSTEM: Final = "reliquary"
MOST_LINKS: Final = 128
"""The most links of a span; OpenTelemetry drops more."""
_NANOSECONDS: Final = 1000
_PROPAGATOR: Final = TraceContextTextMapPropagator()
_NOTHING: Final = Context()

Attributes = dict[str, str | int]


class Spans:
    """Makes the spans of one server."""

    def __init__(self, tracer: Tracer, clock: Clock, syncs: Syncs) -> None:
        self._tracer = tracer
        self._clock = clock
        self._syncs = syncs

    def now(self) -> int:
        """Return the current time in nanoseconds since 1970."""
        return self._clock.now() * _NANOSECONDS

    def start(
        self,
        operation: str,
        place: str,
        kind: SpanKind,
        senders: Sequence[str],
        attributes: Mapping[str, str | int],
        at: int | None = None,
    ) -> Span:
        """Begin a span, now or `at` a time; `senders` are the contexts of its messages.

        Without any it begins a new trace.
        """
        contexts = list(dict.fromkeys(senders))[:MOST_LINKS]
        alone = len(contexts) == 1
        return self._tracer.start_span(
            f"{operation} {place}" if place else operation,
            context_of(contexts[0]) if alone else _NOTHING,
            kind,
            {
                "messaging.system": SYSTEM,
                "messaging.operation.name": operation,
                **({"messaging.destination.name": place} if place else {}),
                **attributes,
            },
            links=_links(contexts) if not alone or kind is SpanKind.CONSUMER else (),
            start_time=self.now() if at is None else at,
        )

    def end(self, span: Span, failure: str = "", why: str = "") -> None:
        """End a span; `failure` is the error in a word, and `why` the sentence."""
        if failure:
            span.set_attribute("error.type", failure)
            span.set_status(Status(StatusCode.ERROR, why or failure))
        span.end(self.now())

    def add_sync(self, parent: Span, since: int) -> None:
        """Add the sync that made the parent's changes durable, if one began since a moment."""
        offset = self.now() - perf_counter_ns()
        began, ended = (round(each * 1e9) + offset for each in (self._syncs.began, self._syncs.ended))
        if ended > since:
            span = self._tracer.start_span(
                "sync", set_span_in_context(parent, _NOTHING), start_time=max(began, since)
            )
            span.end(max(ended, began, since))


def context_of(text: str) -> Context:
    """Return the context of a message in the form of OpenTelemetry."""
    parent, state = split(text)
    return _PROPAGATOR.extract({TRACEPARENT: parent, TRACESTATE: state}, _NOTHING)


def text_of(span: Span) -> str:
    """Return the context of a span in the form of a message."""
    found = span.get_span_context()
    state = found.trace_state or TraceState()
    parent = f"00-{format_trace_id(found.trace_id)}-{format_span_id(found.span_id)}-{found.trace_flags:02x}"
    return joined(parent, state.to_header())


def current_trace() -> str:
    """Return the identifier of the trace in which the code runs; empty outside of all spans."""
    span = get_current_span()
    return "" if span is INVALID_SPAN else format_trace_id(span.get_span_context().trace_id)


def _links(contexts: Iterable[str]) -> list[Link]:
    return [Link(get_current_span(context_of(each)).get_span_context()) for each in contexts]

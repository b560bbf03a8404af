"""Makes spans for an application that uses OpenTelemetry: one for each send, and one for each receive.

    send       producer; its context goes with the messages that name none
    receive    consumer; with a link to the sender of each message, and the child of the sender of a single
               message where the application has no span of its own

Without a tracer provider the only cost is a lookup in the loaded modules.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reliquary.client.message import Message, OutgoingMessage
from reliquary.net.clock import RealClock
from reliquary.wire.trace_context import TRACEPARENT, TRACESTATE

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Tracer, TracerProvider

MODULE: Final = "opentelemetry.trace"
_CLOCK: Final = RealClock()
_TRACERS: dict[str, tuple[TracerProvider, Tracer]] = {}
"""The tracer of the last used provider, under one name."""


def is_active() -> bool:
    """Return whether the application has set a tracer provider."""
    return MODULE in sys.modules and _tracer() is not None


def now() -> int:
    """Return the time in nanoseconds since 1970, for the beginning of a receive."""
    return _CLOCK.now() * 1000


@contextmanager
def sending(queue: str, messages: Sequence[OutgoingMessage]) -> Iterator[list[OutgoingMessage]]:
    """Make a span around a send; yield the messages, with its context if they name none."""
    from opentelemetry.trace import SpanKind
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    tracer = _tracer()
    assert tracer is not None, "asked before"
    about = _about("send", queue, len(messages))
    with tracer.start_as_current_span(f"send {queue}", kind=SpanKind.PRODUCER, attributes=about):
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier)
        yield [each if each.traceparent else replace(each, **carrier) for each in messages]


def received(queue: str, messages: Sequence[Message], began: int) -> None:
    """Make the span of a receive that began at a time and got these messages."""
    from opentelemetry.trace import INVALID_SPAN, Link, SpanKind, get_current_span

    tracer = _tracer()
    assert tracer is not None, "asked before"
    senders = list(
        dict.fromkeys((each.traceparent, each.tracestate) for each in messages if each.traceparent)
    )
    contexts = [_context(*each) for each in senders]
    links = [Link(get_current_span(each).get_span_context()) for each in contexts]
    alone = len(messages) == len(contexts) == 1 and get_current_span() is INVALID_SPAN
    tracer.start_span(
        f"receive {queue}",
        contexts[0] if alone else None,
        SpanKind.CONSUMER,
        _about("receive", queue, len(messages)),
        links,
        began,
    ).end(now())


def _context(parent: str, state: str) -> Context:
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({TRACEPARENT: parent, TRACESTATE: state}, Context())


def _about(operation: str, queue: str, count: int) -> Mapping[str, str | int]:
    return {
        "messaging.system": "reliquary",
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": queue,
        **({"messaging.batch.message_count": count} if count != 1 else {}),
    }


def _tracer() -> Tracer | None:
    """Return a tracer of the application's provider; None if it has set none."""
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    known = _TRACERS.get(MODULE)
    if known is None or known[0] is not provider:
        known = _TRACERS[MODULE] = (provider, provider.get_tracer("reliquary"))
    return known[1]

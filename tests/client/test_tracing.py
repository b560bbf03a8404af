"""Tests an application that uses OpenTelemetry: its spans, and the context that goes with its messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, format_span_id

import reliquary
from reliquary.client import tracing
from reliquary.client.message import OutgoingMessage
from reliquary.client.remote import trace_of
from tests.client.served import served

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Yield the spans of an application that has set a provider."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


def context(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}-{span.context.span_id:016x}"


def test_an_application_without_a_provider_has_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.ProxyTracerProvider)
    assert not tracing.is_active()
    monkeypatch.setattr(tracing, "MODULE", "opentelemetry.was_never_imported")
    monkeypatch.setattr(trace, "get_tracer_provider", None)  # it is not even called
    assert not tracing.is_active()


@pytest.mark.parametrize("place", ["remote", "local"])
def test_a_message_belongs_to_the_trace_of_its_send(
    tmp_path: Path, spans: InMemorySpanExporter, place: str
) -> None:
    with served(tmp_path / "served") as server:
        address = server.data if place == "remote" else str(tmp_path / "local")
        with reliquary.connect(address, control=server.control if place == "remote" else None) as manager:
            orders = manager.create_queue("orders")
            with trace.use_span(tracing_root(spans)) as root:
                orders.send("one", label="l")
            orders.send_many(["two", OutgoingMessage(body=b"three", traceparent=PARENT)])
            assert orders.receive(timeout=0) is not None
            one, many, received = spans.get_finished_spans()
            assert one.parent is not None
            assert one.parent.span_id == root.get_span_context().span_id
            assert [each.kind for each in (one, many, received)] == [
                SpanKind.PRODUCER, SpanKind.PRODUCER, SpanKind.CONSUMER
            ]  # fmt: skip
            assert received.parent is not None
            assert [format_span_id(each.context.span_id) for each in received.links] == [
                format_span_id(one.context.span_id)
            ]
            assert received.context.trace_id == one.context.trace_id
            two, three = orders.receive_many(2)
            assert two.traceparent == f"00-{context(many)}-{two.traceparent[-2:]}"
            assert three.traceparent == PARENT
            assert orders.receive() is None
            both = spans.get_finished_spans()[-1]
            assert (both.name, both.parent, len(both.links)) == ("receive orders", None, 2)
            assert len(spans.get_finished_spans()) == 4


def tracing_root(spans: InMemorySpanExporter) -> trace.Span:
    """Return a span of the application."""
    del spans
    return trace.get_tracer_provider().get_tracer("application").start_span("work")


def test_messages_share_header_fields_only_if_they_share_their_trace() -> None:
    traced = OutgoingMessage(traceparent=PARENT, tracestate="a=1")
    assert trace_of([traced, traced]) == ((b"traceparent", PARENT.encode()), (b"tracestate", b"a=1"))
    assert trace_of([traced, OutgoingMessage()]) == ()
    assert trace_of([OutgoingMessage()]) == ()
    assert trace_of([OutgoingMessage(traceparent="x")]) == ()  # the server refuses it by name

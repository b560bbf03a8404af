"""Starts tracing with OpenTelemetry by the settings: a sampler, a sending thread, an observer of the engine.

Only a server with an endpoint in its settings imports this file: the packages are the extra `tracing`.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from reliquary.engine.open import OpenedEngine
from reliquary.net.clock import RealClock
from reliquary.net.tracing.observer import Observer
from reliquary.net.tracing.spans import Spans, current_trace
from reliquary.server.config import Settings
from reliquary.server.logs import LogHandler
from reliquary.server.tracing_options import TracingOptions

EXPORT_SECONDS: Final = 5.0
"""The seconds that a collector may take for a batch of spans, also at the end of the process."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """The spans of a running server."""

    provider: TracerProvider

    async def stop(self) -> None:
        """Send the remaining spans; a collector that does not answer does not delay the process."""
        await asyncio.to_thread(self.provider.shutdown)


def begin(settings: Settings, opened: OpenedEngine, clock: RealClock, version: str) -> Tracing:
    """Make spans of the events of the engine from now on; all endpoints are connected."""
    options = settings.tracing
    resource = Resource.create(
        {
            "service.name": options.service_name,
            "service.version": version,
            "service.instance.id": str(opened.state.identity().identifier),
            "host.name": settings.computer_name,
        }
    )
    sampler = ParentBased(TraceIdRatioBased(options.sample_ratio))
    provider = TracerProvider(sampler, resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter_of(options)))
    spans = Spans(provider.get_tracer("reliquary", version), clock, opened.engine.syncs)
    Observer(opened.engine, opened.state, spans).attach()
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogHandler):
            handler.trace_of = current_trace
    return Tracing(provider)


def exporter_of(options: TracingOptions) -> SpanExporter:
    """Return the exporter of spans to the endpoint of the settings."""
    return OTLPSpanExporter(options.endpoint, timeout=EXPORT_SECONDS)

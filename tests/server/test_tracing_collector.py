"""Tests spans as a collector gets them: OTLP over HTTP, decoded with the published schema of
OpenTelemetry.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from reliquary.server.tracing_options import TracingOptions
from tests.net.http.harness import until
from tests.server import test_httpr_between as httpr
from tests.server import test_wsrm_between as wsrm
from tests.server.test_srmp_between import Site, play, site
from tests.server.test_tracing import PARENT, SENDER, TRACE, send


@dataclass
class Collector:
    """What arrived, by the name of the service that sent it."""

    url: str = ""
    spans: dict[str, list[Span]] = field(default_factory=dict)
    types: set[str] = field(default_factory=set)

    def take(self, content_type: str, body: bytes) -> None:
        self.types.add(content_type)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {each.key: each.value.string_value for each in resource.resource.attributes}
            kept = self.spans.setdefault(named["service.name"], [])
            kept += [span for scope in resource.scope_spans for span in scope.spans]

    def operations(self, service: str) -> dict[str, Span]:
        """Return the spans of a service by the first word of their names; of equal ones the last."""
        return {span.name.partition(" ")[0]: span for span in self.spans.get(service, ())}


@contextmanager
def collector() -> Iterator[Collector]:
    """Take what exporters send to a free port."""
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers.get("Content-Encoding") == "gzip"
            found.take(self.headers["Content-Type"], gzip.decompress(body) if packed else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}/v1/traces"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    "destination",
    [
        pytest.param(lambda there: there.destination("orders"), id="SRMP"),
        pytest.param(lambda there: httpr.destination(there, "orders"), id="HTTPR", marks=pytest.mark.long),
        pytest.param(lambda there: wsrm.destination(there, "orders"), id="WS-RM", marks=pytest.mark.long),
    ],
)
def test_a_collector_gets_one_trace_over_two_managers(
    tmp_path: Path, destination: Callable[[Site], str]
) -> None:
    async def scene(at: Collector) -> None:
        north, south = (TracingOptions(endpoint=at.url, service_name=name) for name in ("north", "south"))
        async with site(tmp_path / "a", tracing=north) as a, site(tmp_path / "b", tracing=south) as b:
            await b.create("orders")
            await send(a, destination(b), {"text": "two lamps"}, (b"traceparent", PARENT.encode()))
            await b.receive("orders", 1)
            await until(lambda: not a.waiting)
            for each in (a, b):
                assert each.server.tracing is not None
                assert await asyncio.to_thread(each.server.tracing.provider.force_flush)

    with collector() as at:
        play(lambda: scene(at))
    assert at.types == {"application/x-protobuf"}
    sent, came = at.operations("north"), at.operations("south")
    assert {"send", "sync", "forward"} <= set(sent)
    assert {"arrive", "sync", "receive"} <= set(came)
    for span in (sent["send"], sent["forward"], came["arrive"], came["receive"]):
        assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SENDER), span.name
    assert came["sync"].trace_id.hex() == TRACE
    assert came["sync"].parent_span_id == came["arrive"].span_id
    assert [link.span_id.hex() for link in came["receive"].links] == [SENDER]

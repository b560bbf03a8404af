"""Tests traces of whole servers: one trace from the sender to the receiver, by each protocol that carries
it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id

from reliquary.server import tracing
from reliquary.server.tracing_options import TracingOptions
from tests.net.http.harness import until
from tests.server import test_httpr_between as httpr
from tests.server import test_wsrm_between as wsrm
from tests.server.test_logs import begun
from tests.server.test_srmp_between import Site, play, site

TRACE = "0af7651916cd43dd8448eb211c80319c"
SENDER = "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SENDER}-01"
ON = TracingOptions(endpoint="http://127.0.0.1:1/v1/traces")


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Spans of all servers of a test, in memory instead of at a collector."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(exporter, "shutdown", lambda: None)
    monkeypatch.setattr(tracing, "exporter_of", lambda _: exporter)
    return exporter


def spans(exporter: InMemorySpanExporter, *sites: Site) -> dict[str, list[ReadableSpan]]:
    """Return all spans that ended, by the operation in their names."""
    for each in sites:
        assert each.server.tracing is not None
        each.server.tracing.provider.force_flush()
    found: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        found.setdefault(span.name.partition(" ")[0], []).append(span)
    return found


async def send(at: Site, queue: str, body: object, *headers: tuple[bytes, bytes]) -> None:
    path = f"/api/v1/queues/{quote(queue, safe='')}/messages"
    answer = await at.client.request("POST", path, json.dumps(body).encode(), headers)
    assert answer.status == 201, answer.body


def parent_of(span: ReadableSpan) -> str:
    return "" if span.parent is None else format_span_id(span.parent.span_id)


def trace_of(span: ReadableSpan) -> str:
    return format_trace_id(span.context.trace_id)


@pytest.mark.parametrize(
    "destination",
    [
        pytest.param(lambda there: there.destination("orders"), id="SRMP"),
        pytest.param(lambda there: httpr.destination(there, "orders"), id="HTTPR"),
        pytest.param(lambda there: wsrm.destination(there, "orders"), id="WS-RM"),
    ],
)
def test_a_message_has_one_trace_from_its_sender_to_its_receiver(
    tmp_path: Path, exported: InMemorySpanExporter, destination: Callable[[Site], str]
) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a", tracing=ON) as a, site(tmp_path / "b", tracing=ON) as b:
            await b.create("orders")
            fields = ((b"traceparent", PARENT.encode()), (b"tracestate", b"v=1"))
            await send(a, destination(b), {"text": "two lamps"}, *fields)
            [message] = await b.receive("orders", 1)
            assert (message["traceparent"], message["tracestate"]) == (PARENT, "v=1")
            await until(lambda: not a.waiting)
            found = spans(exported, a, b)
            for name, kind in (
                ("send", SpanKind.SERVER),
                ("forward", SpanKind.CLIENT),
                ("arrive", SpanKind.SERVER),
                ("receive", SpanKind.CONSUMER),
            ):
                [span] = found[name]
                assert (span.kind, trace_of(span), parent_of(span)) == (kind, TRACE, SENDER), name
                assert span.attributes is not None
                assert span.attributes["messaging.system"] == "reliquary"
                assert span.status.status_code is StatusCode.UNSET
                assert 0 < (span.start_time or 0) <= (span.end_time or 0)
            assert [format_span_id(each.context.span_id) for each in found["receive"][0].links] == [SENDER]
            inside = {format_span_id(found[name][0].context.span_id) for name in ("send", "arrive")}
            assert {parent_of(each) for each in found["sync"]} == inside

    play(scene)


def test_a_message_without_a_context_gets_one_from_its_send(
    tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    async def scene() -> None:
        async with site(tmp_path, tracing=ON) as a:
            await a.create("orders")
            await send(a, "orders", [{"text": "a"}, {"text": "b", "traceparent": PARENT}])
            await send(a, "orders", {"text": "c"})
            came = await a.receive("orders", 3)
            found = spans(exported, a)
            both, alone = found["send"]
            assert (both.kind, alone.kind, parent_of(alone)) == (SpanKind.PRODUCER, SpanKind.PRODUCER, "")
            assert trace_of(both) == TRACE  # that of the message that has one
            assert came[1]["traceparent"] == PARENT
            for message, span in ((came[0], both), (came[2], alone)):
                assert message["traceparent"].split("-")[1:3] == [
                    trace_of(span), format_span_id(span.context.span_id)
                ]  # fmt: skip
            [received] = found["receive"]
            assert received.attributes is not None
            assert received.attributes["messaging.batch.message_count"] == 3
            assert {format_trace_id(each.context.trace_id) for each in received.links} == {
                TRACE, trace_of(alone)
            }  # fmt: skip
            assert received.parent is None

    play(scene)


def test_a_trace_that_is_not_sampled_is_carried_and_not_recorded(
    tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    none = TracingOptions(endpoint=ON.endpoint, sample_ratio=0)

    async def scene() -> None:
        async with site(tmp_path, tracing=none) as a:
            await a.create("orders")
            await send(a, "orders", {"text": "a"})
            await send(a, "orders", {"text": "b"}, (b"traceparent", PARENT.encode()))
            came = await a.receive("orders", 2)
            assert not int(came[0]["traceparent"][-2:], 16) & 1  # the flag "sampled"
            assert came[1]["traceparent"] == PARENT
            found = spans(exported, a)
            assert {trace_of(each) for name in found for each in found[name]} <= {TRACE}
            assert len(found["send"]) == 1

    play(scene)


def test_what_is_refused_is_an_error_and_its_line_in_the_log_names_the_trace(
    tmp_path: Path,
    exported: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def scene() -> None:
        async with site(tmp_path, tracing=ON) as a:
            field = (b"traceparent", PARENT.encode())
            answer = await a.client.request("POST", "/msmq/private$/orders", b"no envelope", (field,))
            assert answer.status == 400
            path = "/api/v1/queues/missing/messages"
            assert (await a.client.request("POST", path, b'{"text": "x"}', (field,))).status == 404
            found = spans(exported, a)
            for name, failure in (("arrive", "400"), ("send", "QUEUE_NOT_FOUND")):
                [span] = found[name]
                assert span.status.status_code is StatusCode.ERROR
                assert span.attributes is not None
                assert span.attributes["error.type"] == failure

    with begun(monkeypatch):
        play(scene)
    [line] = [each for each in capsys.readouterr().err.splitlines() if "SRMP from" in each]
    assert line.endswith(f" trace_id={TRACE}")


def test_a_peer_that_cannot_be_reached_ends_the_span_with_an_error(
    tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    async def scene() -> None:
        async with site(tmp_path, tracing=ON) as a:
            await send(
                a, "DIRECT=http://127.0.0.1:1/msmq/q", {"text": "x"}, (b"traceparent", PARENT.encode())
            )
            await until(lambda: "forward" in spans(exported, a))
            span = spans(exported, a)["forward"][0]
            assert span.status.status_code is StatusCode.ERROR
            assert (span.name, trace_of(span)) == ("forward 127.0.0.1:1/msmq/q", TRACE)

    play(scene)


def test_without_an_endpoint_nothing_is_watched_and_a_message_has_no_context(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path) as a:
            assert (a.server.tracing, a.server.opened.engine.observer) == (None, None)
            await a.create("orders")
            await send(a, "orders", {"text": "a"})
            assert "traceparent" not in (await a.receive("orders", 1))[0]

    play(scene)


def test_a_server_and_a_client_without_tracing_import_nothing_of_opentelemetry() -> None:
    code = "import sys, reliquary, reliquary.server.run; sys.exit('opentelemetry' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_collector_that_is_away_does_not_hold_back_the_end(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path, tracing=ON) as a:
            await a.create("orders")
            await send(a, "orders", {"text": "a"})

    play(scene)

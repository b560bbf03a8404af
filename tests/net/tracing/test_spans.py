"""Tests spans: contexts as text, parents and links, and the sync that an answer waited for."""

from __future__ import annotations

from time import perf_counter

from opentelemetry.trace import SpanKind, use_span

from reliquary.net.tracing.spans import current_trace, text_of
from tests.net.tracing.harness import OTHER, PARENT, Bench


def test_the_context_of_a_span_continues_its_parents_trace_and_state() -> None:
    bench = Bench()
    span = bench.spans.start("send", "q", SpanKind.SERVER, [f"{PARENT} a=1,b=2"], {})
    text = text_of(span)
    assert text.split("-")[1] == PARENT.split("-")[1]
    assert text.split("-")[2] != PARENT.split("-")[2]
    assert text.endswith("-01 a=1,b=2")


def test_the_trace_of_the_code_that_runs() -> None:
    assert current_trace() == ""
    with use_span(Bench().spans.start("send", "q", SpanKind.SERVER, [PARENT], {})):
        assert current_trace() == PARENT.split("-")[1]
    assert current_trace() == ""


def test_a_span_about_messages_of_one_sender_is_its_child_and_others_have_links() -> None:
    bench = Bench()
    for senders in ([PARENT, PARENT], [PARENT, OTHER], []):
        bench.spans.end(bench.spans.start("forward", "", SpanKind.CLIENT, senders, {}))
    one, two, none = bench.ended
    assert (one.parent is not None, len(one.links)) == (True, 0)
    assert (two.parent, len(two.links)) == (None, 2)
    assert (none.parent, len(none.links), none.name) == (None, 0, "forward")


def test_a_sync_is_shown_if_it_ended_since_the_span_began() -> None:
    bench = Bench()
    span = bench.spans.start("send", "q", SpanKind.SERVER, [PARENT], {})
    began = bench.spans.now()
    now = perf_counter()
    bench.syncs.began, bench.syncs.ended = now - 9, now - 8
    bench.spans.add_sync(span, began)
    assert bench.ended == []
    bench.clock.time += 2_000_000
    now = perf_counter()
    bench.syncs.began, bench.syncs.ended = now - 3, now
    bench.spans.add_sync(span, began)
    [sync] = bench.ended
    assert sync.parent is not None
    assert sync.parent.span_id == span.get_span_context().span_id
    assert sync.start_time == began  # what it did before was for others
    assert sync.end_time is not None
    assert sync.end_time > began

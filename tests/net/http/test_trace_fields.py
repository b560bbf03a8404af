"""Tests the trace of a message in header fields of HTTP."""

from __future__ import annotations

from reliquary.net.http.trace_fields import read_trace_fields, trace_fields

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_context_goes_both_ways() -> None:
    for context in (PARENT, f"{PARENT} a=1,b=2"):
        assert read_trace_fields(list(trace_fields(context))) == context


def test_names_may_have_any_case_and_states_are_joined() -> None:
    fields = [(b"TraceParent", PARENT.encode()), (b"tracestate", b"a=1"), (b"Tracestate", b"b=2")]
    assert read_trace_fields(fields) == f"{PARENT} a=1,b=2"


def test_a_context_that_is_missing_malformed_or_doubled_is_none() -> None:
    parent = (b"traceparent", PARENT.encode())
    for fields in (
        [],
        [(b"host", b"x")],
        [(b"traceparent", b"\xff")],
        [parent, parent],
        [(b"tracestate", b"a=1")],
    ):
        assert read_trace_fields(fields) == ""

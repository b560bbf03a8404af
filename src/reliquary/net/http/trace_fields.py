"""Reads and writes the header fields of HTTP for the trace of a message: W3C Trace Context."""

from __future__ import annotations

from typing import Final

from reliquary.net.http.headers import Headers
from reliquary.wire.trace_context import TRACEPARENT, TRACESTATE, joined, split

_PARENT: Final = TRACEPARENT.encode()
_STATE: Final = TRACESTATE.encode()


def trace_fields(context: str) -> tuple[tuple[bytes, bytes], ...]:
    """Return the fields of a context."""
    parent, state = split(context)
    fields = ((_PARENT, parent.encode("ascii")),)
    return (*fields, (_STATE, state.encode("ascii"))) if state else fields


def read_trace_fields(fields: Headers) -> str:
    """Return the context of a request; empty if it is absent, malformed or repeated."""
    parents, states = [], []
    for name, value in fields:
        size = len(name)  # names of other lengths are not compared: most requests have neither field
        if size == len(_PARENT) and name.lower() == _PARENT:
            parents.append(value)
        elif size == len(_STATE) and name.lower() == _STATE:
            states.append(value)
    if len(parents) != 1:
        return ""
    return joined(parents[0].decode("latin-1"), b",".join(states).decode("latin-1"))

"""Spans of OpenTelemetry, made at the edge of the engine from events, answers and effects.

It may import `engine` and the rooms below, and `opentelemetry`.  Begin with `observer`.

    event of a client or peer --> [observer] --> turn --> sync --> answer    a span from event to answer
    effect of a carrier --> [performer] --> request --> event                a span from request to end

Machines know nothing of it: they carry the context of a message as data.  A server without an endpoint in the
table [tracing] does not import this package.

    spans      times, parents and attributes, by the conventions of OpenTelemetry for messaging
    observer   which event, answer and effect becomes which span
"""

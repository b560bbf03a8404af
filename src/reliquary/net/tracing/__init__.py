"""Makes spans of OpenTelemetry from the events, answers and effects of the engine.

It may import `engine` and the rooms below, and `opentelemetry`.  Begin with `observer`.

    event of a client or peer --> [observer] --> turn --> sync --> answer    a span from event to answer
    effect of a carrier --> [performer] --> request --> event                a span from request to end

Machines do not use it: they carry the context of a message as data.  A server without an endpoint in the
table [tracing] does not import this package.

    spans      times, parents and attributes, by the conventions of OpenTelemetry for messaging
    observer   the span of each event, answer and effect
"""

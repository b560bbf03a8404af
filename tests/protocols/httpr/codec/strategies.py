"""Any capabilities, headers and batches that HTTPR can carry."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import asdict

from reliquary.protocols.httpr.codec.values import (
    FLOWS,
    LARGEST_ID,
    SENDS,
    Capabilities,
    Carried,
    Command,
    Error,
    ErrorNumber,
    Fields,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)

numbers = st.integers(0, 10**6) | st.integers(0, 2**63 - 1)
ids = st.integers(0, 300) | st.integers(0, LARGEST_ID)
lines = st.text([chr(code) for code in range(256) if code >= 32 and code != 127], max_size=60)
"""What may stand on one line."""
values = lines.map(lambda text: text[:20].strip(" \t")).filter(bool)
_names = st.sampled_from(["app-x", "app-reliquary-label", "x", "payload-size", "httpr-user-module-data"])
product: st.SearchStrategy[Fields] = st.lists(st.tuples(_names, values), max_size=3).map(tuple)
errors = st.sampled_from(ErrorNumber).map(Error.of) | st.builds(
    Error, st.integers(0, 999_999_999), st.just("") | values
)


_amounts = st.sampled_from([name for name, value in asdict(Capabilities()).items() if type(value) is int])


@st.composite
def vectors(draw: st.DrawFn) -> Capabilities:
    """Draw any valid set of capabilities."""
    sessions, sessionless = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    named = draw(st.dictionaries(st.sampled_from(["app-x", "app-y", "app-z"]), values | st.just("")))
    return Capabilities(
        **draw(st.dictionaries(_amounts, numbers)),
        flows=draw(st.frozensets(st.sampled_from(sorted(FLOWS, key=str)), min_size=1)),
        sessions=sessions,
        sessionless=sessionless,
        product=tuple(named.items()),
    )


_session_ids = st.text("abcXYZ0189", min_size=1, max_size=12)


def _both(draw: st.DrawFn) -> dict[str, Any]:
    outcome = draw(st.none() | st.sampled_from(Outcome))
    return {
        "outcome": outcome,
        "completed": None if outcome is None else draw(ids),
        "agent_type": draw(st.just("") | values),
        "error": draw(st.none() | errors),
        "product": draw(product),
    }


@st.composite
def requests(draw: st.DrawFn, commands: Any = Command) -> RequestHeader:
    """Return any header of a request."""
    command = draw(st.sampled_from(commands))
    more: dict[str, Any] = {}
    if command is Command.GET_RESPONDER_INFO or draw(st.booleans()):
        more |= {"requester": draw(values), "channel": draw(values), "responder": draw(st.just("") | values)}
        more["capabilities"] = draw(st.none() | vectors().filter(lambda vector: vector != Capabilities()))
    else:
        more["session_id"] = draw(_session_ids)
    if command is Command.GET_RESPONDER_INFO:
        more["session"] = SessionMark.BEGIN
    elif command in SENDS:
        more["transaction_id"] = draw(ids)
    elif command is Command.REPORT:
        more |= {"last_pushed_id": draw(st.none() | ids), "forget": draw(st.none() | ids)}
        more["session"] = draw(st.none() | st.just(SessionMark.END))
    return RequestHeader(command=command, **more, **_both(draw))


@st.composite
def responses(draw: st.DrawFn) -> ResponseHeader:
    """Return any header of a response."""
    vector = draw(st.none() | vectors())
    named = st.sampled_from([("maximum_batch_size", "5"), ("flows", "PUSH"), ("app-x", "a, b")])
    return ResponseHeader(
        version=draw(st.sampled_from(["", "HTTPR/1.0"])),
        responder=draw(st.just("") | values),
        session=draw(st.none() | st.sampled_from(SessionMark)),
        session_id=draw(st.just("") | _session_ids),
        capabilities=None if vector is None else (draw(named),),
        transaction_id=draw(st.none() | ids),
        last_pulled_id=draw(st.none() | ids),
        **_both(draw),
    )


_message_names = st.sampled_from(["target-uri", "class-of-service", "Priority", "message-id", "app-x"])
message_headers = st.lists(st.tuples(_message_names, values | st.just("")), max_size=4).map(
    lambda fields: "".join(f"{name}:{value}\r\n" for name, value in fields)
)
bodies = st.binary(max_size=60) | st.sampled_from(
    [b"payload-disposition:last\r\n", b"\r\n\r\n", b"message-size:5\r\n\r\n", b"0\r\n\r\n", bytes(40)]
)
batches = st.lists(st.builds(Carried, message_headers, bodies), max_size=4)

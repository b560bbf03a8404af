"""Tests our reader and a parser that shares no code with it: both read and refuse alike."""

from __future__ import annotations

import random
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import asdict

from reliquary.protocols.httpr.codec.encode import TERMINATOR, batch_bytes, chunk, chunked_head
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import encode_request, encode_response
from reliquary.protocols.httpr.codec.reader import (
    BatchEnded,
    BodyIncomplete,
    BodyPart,
    HeaderRead,
    RequestReader,
    ResponseReader,
)
from reliquary.protocols.httpr.codec.values import (
    SENDS,
    BatchLimits,
    Capabilities,
    Carried,
    Disposition,
    Error,
    RequestHeader,
    ResponseHeader,
)
from tests.protocols.httpr.codec.mutations import damaged
from tests.protocols.httpr.codec.strategies import batches, requests, responses
from tests.protocols.httpr.codec.vector import REQUESTS, RESPONSES, VECTORS
from tests.protocols.httpr.second_parser import Body, Violation, request_body, response_body

LARGEST, MOST = 200, 5
LIMITS = BatchLimits(LARGEST, MOST)
ROUNDS = 2500
LAST = TERMINATOR[Disposition.LAST]
ON_THE_WIRE = {
    "command": "request",
    "session_id": "sessionid",
    "transaction_id": "transactionid",
    "last_pushed_id": "last-pushed-id",
    "last_pulled_id": "last-pulled-id",
    "agent_type": "agent-type",
}


def first(data: bytes, *, request: bool) -> Body | None:
    """Return what our reader makes of a body; None where it refuses it."""
    using = RequestReader(lambda _: LIMITS) if request else ResponseReader(LIMITS)
    try:
        events = using.feed(data)
        using.end()
    except (HttprFault, BodyIncomplete):
        return None
    return reported(events)


def second(data: bytes, *, request: bool) -> Body | None:
    try:
        return (request_body if request else response_body)(data, largest=LARGEST, most=MOST)
    except Violation:
        return None


def reported(events: list[BodyPart]) -> Body:
    """Return the events in the form of the second parser."""
    body = Body()
    for event in events:
        if isinstance(event, HeaderRead):
            values = asdict(event.header)
            body.product = list(values.pop("product"))
            if isinstance(event.header, RequestHeader):
                values.pop("version")
            named = {ON_THE_WIRE.get(name, name): value for name, value in values.items()}
            body.said = {name: plain(value) for name, value in named.items() if value not in (None, "")}
        elif isinstance(event, BatchEnded):
            body.disposition = event.disposition.value
        else:
            assert isinstance(event, Carried)
            body.messages.append((event.header, event.body))
    return body


def plain(value: Any) -> Any:
    match value:
        case Error(number, text):
            return number, text
        case Capabilities():
            return all_of(value)
        case tuple():
            return {name: worth(name, text) for name, text in value}
        case Enum():
            return value.value
        case _:
            return value


def all_of(vector: Capabilities) -> dict[str, Any]:
    """Return every capability, also those that are not named."""
    found = {name: value for name, value in asdict(vector).items() if isinstance(value, int)}
    levels = {"SESSION": found.pop("sessions"), "SESSIONLESS": found.pop("sessionless")}
    return (
        dict(vector.product)
        | found
        | {"flows": {flow.value for flow in vector.flows}}
        | {"session_support": {level for level, there in levels.items() if there}}
    )


def worth(name: str, text: str) -> Any:
    if name in {"flows", "session_support"}:
        return set(text.split("+"))
    return int(text) if name in asdict(Capabilities()) else text


def agree(data: bytes, *, request: bool) -> bool:
    """Return whether both read it; that they agree is asserted."""
    ours, theirs = first(data, request=request), second(data, request=request)
    assert ours == theirs, data
    return ours is not None


@pytest.mark.parametrize("name", VECTORS)
def test_the_parsers_read_the_vectors_alike(name: str) -> None:
    assert agree(VECTORS[name].data, request=name in REQUESTS)


def in_chunks(batch: list[Carried]) -> bytes:
    parts = []
    for each in batch:
        parts.append(chunked_head(each.header))
        parts += [chunk(each.body[at : at + 7]) for at in range(0, len(each.body), 7)]
        parts.append(b"000;last\r\napp-trailer: yes\r\n\r\n\r\n")
    return b"".join(parts) + TERMINATOR[Disposition.ABORT]


@settings(max_examples=50)
@given(requests(), batches)
def test_the_parsers_read_written_requests_alike(header: RequestHeader, batch: list[Carried]) -> None:
    block = encode_request(header)
    if header.command not in SENDS:
        assert agree(block, request=True)
        return
    assert agree(block + batch_bytes([(each.header, each.body) for each in batch]), request=True)
    assert agree(block + in_chunks(batch), request=True)


@settings(max_examples=50)
@given(responses(), batches)
def test_the_parsers_read_written_responses_alike(header: ResponseHeader, batch: list[Carried]) -> None:
    block = encode_response(header)
    if header.transaction_id is not None:
        block += batch_bytes([(each.header, each.body) for each in batch])
    assert agree(block, request=False)


@pytest.mark.parametrize("request_", [True, False], ids=["requests", "responses"])
def test_the_parsers_refuse_every_damaged_body(request_: bool) -> None:
    chance = random.Random(5)
    bodies = [each.data for each in (REQUESTS if request_ else RESPONSES).values()]
    read = sum(agree(damaged(chance.choice(bodies), chance), request=request_) for _ in range(ROUNDS))
    assert ROUNDS // 50 < read < ROUNDS * 3 // 4


def test_the_parsers_read_a_repeated_header_like_a_first_one() -> None:
    chance = random.Random(9)
    push = b"request:PUSH HTTPR/1.0\r\nsessionid:1\r\ntransactionid:0000000000000001\r\n\r\n"
    message = b"message-size:12\r\ntarget-uri:httpr://a/b#c\r\nmessage-id:ab.1234\r\n\r\ntwelve bytes\r\n"
    read = sum(
        agree(push + message + b"".join(like(message, chance) for _ in range(3)) + LAST, request=True)
        for _ in range(ROUNDS)
    )
    assert ROUNDS // 10 < read < ROUNDS * 9 // 10


def like(message: bytes, chance: random.Random) -> bytes:
    """Return the message, perhaps with another digit, or with other text in place of one."""
    other = bytearray(message)
    for _ in range(chance.randrange(3)):
        digits = [at for at, byte in enumerate(message) if chr(byte).isdecimal()]
        at = chance.choice(digits if chance.random() < 0.9 else range(len(message)))
        other[at] = chance.choice(b"0123456789" if chance.random() < 0.9 else b"x: \r\n\x00\xb2")
    return bytes(other)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"request:PUSH", b"request:PUSHX"),
        (b"message-size:5", b"message-size:4"),
        (b"6\r\n world", b"7\r\n world"),
        (b"transactionid:", b"transaction:"),
        (b"last\r\n", b"lost\r\n"),
    ],
)
def test_the_second_parser_refuses_what_the_grammar_forbids(old: bytes, new: bytes) -> None:
    data = VECTORS["H3"].data
    assert second(data, request=True)
    assert data.count(old) == 1
    assert second(data.replace(old, new), request=True) is None

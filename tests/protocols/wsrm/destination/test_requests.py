"""Tests replies: their names, and what they relate to."""

from __future__ import annotations

from uuid import UUID

import pytest
from msgspec.structs import replace

from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Envelope, Reference
from reliquary.protocols.wsrm.destination.requests import (
    message_id,
    message_id_of,
    reply_name,
    waits_for_reply,
)
from reliquary.protocols.wsrm.destination.tables import Inbound
from reliquary.protocols.wsrm.mapping import identifier_of
from reliquary.queueing.model.message import ObjectId
from tests.protocols.wsrm.destination.rmd import ADDRESS, ANONYMOUS, POLLED, Rmd

NONE = Reference("http://www.w3.org/2005/08/addressing/none")
PLAIN = Inbound(1, "urn:a", "orders", "orders", Dialect(), ANONYMOUS, 1, 1)
OFFERED = replace(PLAIN, offer="urn:b", offered=9)
LISTENING = replace(OFFERED, reply_url="http://client.example/in")
BACK = "DIRECT=WSRM://anonymous.invalid/urn%3Ab"


@pytest.mark.parametrize(
    ("row", "reply_to", "name", "waits"),
    [
        pytest.param(PLAIN, None, "", 0, id="not said, no offer"),
        pytest.param(PLAIN, ANONYMOUS, "", 0, id="anonymous, no offer"),
        pytest.param(PLAIN, ADDRESS, "DIRECT=WSRM://client.example/acks", 0, id="an address, no offer"),
        pytest.param(PLAIN, POLLED, "", 0, id="polled, no offer"),
        pytest.param(PLAIN, NONE, "", 0, id="none, no offer"),
        pytest.param(OFFERED, None, BACK, 9, id="not said"),
        pytest.param(OFFERED, ANONYMOUS, BACK, 9, id="anonymous"),
        pytest.param(OFFERED, POLLED, BACK, 0, id="polled"),
        pytest.param(OFFERED, NONE, "", 0, id="none"),
        pytest.param(OFFERED, Reference("urn:x"), "", 0, id="no URL"),
        pytest.param(OFFERED, ADDRESS, "DIRECT=WSRM://client.example/acks#urn%3Ab", 0, id="an address"),
        pytest.param(LISTENING, ADDRESS, "DIRECT=WSRM://client.example/in#urn%3Ab", 0, id="where it listens"),
        pytest.param(LISTENING, None, "DIRECT=WSRM://client.example/in#urn%3Ab", 0, id="it listens"),
    ],
)
def test_a_reply_has_its_name(row: Inbound, reply_to: Reference | None, name: str, waits: int) -> None:
    envelope = Envelope(dialect=Dialect(), message_id="m", reply_to=reply_to)
    assert reply_name(row, envelope) == name
    assert waits_for_reply(row, envelope) == waits


def test_a_missing_reply_to_is_anonymous_only_in_version_1() -> None:
    envelope = Envelope(dialect=Dialect(addressing=Addressing.WSA2004), message_id="m")
    assert reply_name(OFFERED, envelope) == ""
    assert waits_for_reply(OFFERED, envelope) == 0


def test_a_message_without_a_message_id_does_not_wait() -> None:
    assert waits_for_reply(OFFERED, Envelope(dialect=Dialect())) == 0


def test_relates_to_is_the_text_of_the_request() -> None:
    rmd = Rmd()
    opaque = identifier_of("order 7")
    rmd.here.requests[opaque] = "order 7"
    assert message_id(rmd.state, opaque) == message_id_of(rmd.state, opaque) == "order 7"
    known = "urn:uuid:00000000-0000-4000-8000-000000000007"
    assert message_id(rmd.state, identifier_of(known)) is None
    assert message_id_of(rmd.state, identifier_of(known)) == known
    assert message_id(rmd.state, ObjectId(UUID(int=1), 5)) is None

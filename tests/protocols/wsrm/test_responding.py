"""Tests responses: where they go, and their statuses."""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.values import (
    Addressing,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    Reference,
)
from tests.protocols.wsrm.wsrm_harness import ANONYMOUS, URL, WsrmBench, message

MESSAGE_ID = "urn:uuid:00000000-0000-4000-8000-000000000001"


def test_a_response_names_its_request() -> None:
    bench = WsrmBench()
    asked = Envelope(
        dialect=Dialect(),
        to=Reference(URL),
        message_id=MESSAGE_ID,
        reply_to=ANONYMOUS,
        body=CreateSequence(ANONYMOUS),
    )
    response = bench.post(asked)
    assert response is not None
    assert response.relates_to == MESSAGE_ID


def test_a_response_goes_to_the_address_that_its_request_names() -> None:
    bench = WsrmBench()
    there = Reference("http://client.example/replies")
    asked = Envelope(
        dialect=Dialect(),
        to=Reference(URL),
        message_id=MESSAGE_ID,
        reply_to=there,
        body=CreateSequence(there),
    )
    answer = bench.send_in(asked)
    assert (answer.status, answer.body) == (202, b"")
    ((post, left),) = bench.posted
    assert post.url == there.address
    assert left.relates_to == MESSAGE_ID
    assert isinstance(left.body, CreateSequenceResponse)


def test_a_fault_goes_to_the_address_for_faults() -> None:
    bench = WsrmBench()
    there = Reference("http://client.example/faults")
    wrong = message("urn:none", 1, message_id=MESSAGE_ID, reply_to=ANONYMOUS, fault_to=there)
    assert bench.send_in(wrong).status == 202
    ((post, left),) = bench.posted
    assert post.url == there.address
    assert isinstance(left.body, Fault)


def test_addressing_of_2004_has_a_destination_in_every_response() -> None:
    bench = WsrmBench()
    dialect = Dialect(addressing=Addressing.WSA2004)
    anonymous = Reference("http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous")
    sequence = bench.sequence(dialect, acks_to=anonymous)
    response = bench.post(message(sequence, 1, dialect=dialect))
    assert response is not None
    assert response.to == anonymous

"""Each part of an envelope goes to its rule, and what breaks a rule is answered with a fault."""

from __future__ import annotations

from typing import get_args

import pytest

from reliquary.protocols.wsrm import arrivals
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Body,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    Offer,
    Reference,
    Soap,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.events import PostArrived
from reliquary.protocols.wsrm.state import Count
from tests.protocols.wsrm.wsrm_harness import ANONYMOUS, URL, WsrmBench, acknowledged, message
from tests.queueing.history.chronicle import events_of, words

OFFER = Offer("urn:uuid:00000000-0000-4000-8000-00000000000f")


def fault_in(envelope: Envelope | None) -> Fault:
    """Return the fault that a response is."""
    assert envelope is not None
    assert isinstance(envelope.body, Fault), envelope.body
    return envelope.body


def test_every_body_has_a_rule() -> None:
    assert set(arrivals._BODIES) == set(get_args(Body))


@pytest.mark.spec("FC-001", "FC-002", "FC-014", "FC-016")
def test_a_message_is_taken_and_acknowledged_on_the_response() -> None:
    bench = WsrmBench()
    sequence = bench.sequence()
    response = bench.post(message(sequence, 1, b"<a>1</a>"))
    assert acknowledged(response) == Acknowledgement(sequence, ((1, 1),), buffer=8)
    assert bench.bodies() == [b"<a>1</a>"]


def test_the_history_has_the_sequence_and_the_number_of_a_message() -> None:
    bench = WsrmBench(history=True)
    sequence = bench.sequence()
    bench.post(message(sequence, 1), peer="10.0.0.7")
    bench.post(message(sequence, 2), peer="10.0.0.7")
    bench.flush()
    (number,) = bench.wsrm.destination.sequences
    found = words(events_of(bench.disk), "queue", "protocol", "peer", "batch")
    assert found == [("arrived", "orders", "wsrm", "10.0.0.7", f"{number}:{each}") for each in (1, 2)]


def test_an_ack_requested_with_a_message_confirms_that_message() -> None:
    bench = WsrmBench()
    sequence = bench.sequence_to(Reference("http://client.example/acks"))
    assert bench.post(message(sequence, 1, ack_requests=(sequence,))) is None
    (_, left) = bench.posted[-1]
    assert acknowledged(left).ranges == ((1, 1),)


def test_an_ack_requested_for_what_the_client_offered_is_passed_over() -> None:
    bench = WsrmBench()
    sequence = bench.sequence(offer=OFFER, acks_to=ANONYMOUS)
    asked = message(sequence, 1, ack_requests=(OFFER.identifier,))
    assert acknowledged(bench.post(asked)).ranges == ((1, 1),)


def test_an_ack_requested_alone_for_an_unknown_sequence_is_a_fault() -> None:
    bench = WsrmBench()
    asked = Envelope(dialect=Dialect(), to=Reference(URL), ack_requests=("urn:none",))
    assert fault_in(bench.post(asked)).code is FaultCode.UNKNOWN_SEQUENCE
    assert bench.wsrm.counts[Count.FAULTS_SENT] == 1


@pytest.mark.parametrize(("soap", "status"), [(Soap.SOAP11, 500), (Soap.SOAP12, 400)])
def test_what_is_no_envelope_gets_a_fault_and_changes_nothing(soap: Soap, status: int) -> None:
    bench = WsrmBench()
    content_type = "text/xml" if soap is Soap.SOAP11 else "application/soap+xml"
    caller = bench.new_caller()
    bench.handle(PostArrived(caller, "orders", content_type, b"<not-soap/>"))
    answer = bench.response_to(caller)
    assert answer is not None
    assert (answer.status, answer.content_type.partition(";")[0]) == (status, content_type)
    assert bench.facts == [] or bench.bodies() == []


def test_a_header_that_must_be_understood_and_is_not_is_refused() -> None:
    bench = WsrmBench()
    data = (
        b'<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header>'
        b'<x:Strange xmlns:x="urn:x" s:mustUnderstand="true"/></s:Header><s:Body/></s:Envelope>'
    )
    caller = bench.new_caller()
    bench.handle(PostArrived(caller, "orders", "application/soap+xml", data))
    answer = bench.response_to(caller)
    assert answer is not None
    assert answer.status == 500
    assert b"MustUnderstand" in answer.body
    assert b"Strange" in answer.body


def test_a_buffer_remaining_that_is_no_number_is_logged_and_ignored() -> None:
    bench = WsrmBench()
    data = (
        b'<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header>'
        b'<r:SequenceAcknowledgement xmlns:r="http://docs.oasis-open.org/ws-rx/wsrm/200702"><r:Identifier>urn:x'
        b'</r:Identifier><r:AcknowledgementRange Lower="1" Upper="1"/><n:BufferRemaining '
        b'xmlns:n="http://schemas.microsoft.com/ws/2006/05/rm">-4</n:BufferRemaining>'
        b"</r:SequenceAcknowledgement></s:Header><s:Body/></s:Envelope>"
    )
    caller = bench.new_caller()
    bench.handle(PostArrived(caller, "orders", "application/soap+xml", data))
    assert [each.what for each in bench.warnings] == ["BufferRemaining is ignored"]
    answer = bench.response_to(caller)
    assert answer is not None
    assert answer.status == 202


def test_an_acknowledgement_is_sent_with_a_message_to_its_address() -> None:
    far = "http://far.example/svc"
    bench = WsrmBench()
    sequence = bench.sequence_to(Reference(far))
    bench.post(message(sequence, 1))
    bench.send("DIRECT=WSRM://far.example/svc", b"<out/>")
    (_, left) = bench.posted[-1]
    assert isinstance(left.body, CreateSequence)
    assert acknowledged(left).ranges == ((1, 1),)


def test_an_offer_is_accepted_and_both_sequences_know_each_other() -> None:
    bench = WsrmBench()
    asked = Envelope(
        dialect=Dialect(),
        to=Reference(URL),
        message_id="urn:uuid:00000000-0000-4000-8000-000000000001",
        reply_to=ANONYMOUS,
        body=CreateSequence(ANONYMOUS, offer=OFFER),
    )
    response = bench.post(asked)
    assert response is not None
    created = response.body
    assert isinstance(created, CreateSequenceResponse)
    assert created.accept == Reference(URL)  # WCF compares it with To
    state = bench.wsrm
    inbound = state.destination.sequences[state.destination.by_identifier[created.identifier]]
    assert state.source.by_identifier[OFFER.identifier] == inbound.row.offered


def test_an_identifier_that_another_client_offered_is_not_accepted() -> None:
    bench = WsrmBench()
    bench.sequence(offer=OFFER)
    asked = Envelope(
        dialect=Dialect(),
        to=Reference(URL),
        message_id="urn:uuid:00000000-0000-4000-8000-000000000002",
        reply_to=ANONYMOUS,
        body=CreateSequence(Reference("http://other.example/"), offer=OFFER),
    )
    response = bench.post(asked)
    assert response is not None
    assert isinstance(response.body, CreateSequenceResponse)
    assert response.body.accept is None


@pytest.mark.parametrize("offered", [False, True])
def test_terminating_in_version_1_0_is_answered_as_wcf_and_gsoap_want_it(offered: bool) -> None:
    bench = WsrmBench()
    dialect = Dialect(version=Version.RM10)
    sequence = bench.sequence(dialect, offer=OFFER if offered else None)
    ended = Envelope(dialect=dialect, to=Reference(URL), body=TerminateSequence(sequence))
    response = bench.post(ended)
    if offered:  # "requires a response": the sequence that the client offered ends too
        assert response is not None
        assert response.body == TerminateSequence(OFFER.identifier)
    else:
        assert response is None


@pytest.mark.parametrize("version", Version)
def test_the_end_of_a_sequence_without_messages_acknowledges_nothing_in_version_1_0(version: Version) -> None:
    bench = WsrmBench()
    dialect = Dialect(version=version)
    sequence = bench.sequence(dialect, offer=OFFER)
    response = bench.post(Envelope(dialect=dialect, to=Reference(URL), body=TerminateSequence(sequence)))
    assert response is not None
    assert len(response.acknowledgements) == (version is Version.RM11)


def test_what_has_no_room_in_version_1_0_is_acknowledged_with_the_room() -> None:
    bench = WsrmBench()
    sequence = bench.sequence(Dialect(version=Version.RM10))
    response = bench.post(message(sequence, 9, dialect=Dialect(version=Version.RM10)))
    assert acknowledged(response) == Acknowledgement(sequence, (), buffer=8)


def test_a_request_to_end_nothing_is_refused() -> None:
    bench = WsrmBench()
    ended = Envelope(dialect=Dialect(version=Version.RM10), to=Reference(URL), body=TerminateSequence(""))
    assert fault_in(bench.post(ended)).code is FaultCode.SENDER


def test_the_end_of_a_sequence_ends_what_its_client_offered() -> None:
    bench = WsrmBench()
    sequence = bench.sequence(offer=OFFER)
    bench.post(Envelope(dialect=Dialect(), to=Reference(URL), body=TerminateSequence(sequence)))
    assert OFFER.identifier not in bench.wsrm.source.by_identifier


def test_a_client_that_listens_keeps_the_sequence_that_it_offered() -> None:
    bench = WsrmBench()
    there = Reference("http://client.example/replies")
    asked = Envelope(
        dialect=Dialect(),
        to=Reference(URL),
        message_id="urn:uuid:00000000-0000-4000-8000-000000000003",
        reply_to=there,
        body=CreateSequence(there, offer=Offer(OFFER.identifier, there)),
    )
    assert bench.post(asked) is None
    (_, created) = bench.posted[-1]
    assert isinstance(created.body, CreateSequenceResponse)
    bench.post(
        Envelope(
            dialect=Dialect(),
            to=Reference(URL),
            message_id="urn:uuid:00000000-0000-4000-8000-000000000004",
            reply_to=there,
            body=TerminateSequence(created.body.identifier),
        )
    )
    assert OFFER.identifier in bench.wsrm.source.by_identifier

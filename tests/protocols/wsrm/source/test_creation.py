"""A sequence is created: once, again, with an offer, or not at all."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.wsrm.codec.addressing import ANONYMOUS, NONE
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    Addressing,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Offer,
    Reference,
    Soap,
    Version,
)
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.state import AcceptedOffer
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.link import ConnectionStatus
from tests.protocols.wsrm.source.source_bench import FIRST, URL, Came, SourceBench

OURS = Reference("http://bench.example/wsrm/")


def asking(**peer: object) -> SourceBench:
    bench = SourceBench(settings=WsrmSettings(peers=(PeerSettings(address="*", **peer),)))  # type: ignore[arg-type]
    bench.put("a")
    return bench


def created(bench: SourceBench, identifier: str = FIRST, *, related: bool = True) -> Envelope:
    asked = bench.read(bench.posts[-1])
    body = CreateSequenceResponse(identifier)
    return Envelope(dialect=asked.dialect, relates_to=asked.message_id if related else "", body=body)


@pytest.mark.parametrize("version", Version)
@pytest.mark.parametrize("soap", Soap)
@pytest.mark.parametrize("addressing", Addressing)
def test_a_sequence_is_asked_for_in_the_dialect_of_the_peer(
    version: Version, soap: Soap, addressing: Addressing
) -> None:
    bench = asking(dialect=Dialect(version, soap, addressing))
    [asked] = bench.sent()
    anonymous = Reference(ANONYMOUS[addressing])
    assert asked.dialect == Dialect(version, soap, addressing)
    assert asked.body == CreateSequence(anonymous)  # WCF writes no Expires, and none is written
    assert asked.reply_to == anonymous
    assert asked.message_id
    assert asked.to == Reference(URL)
    bench.open()
    [message] = bench.sent()
    assert message.dialect == asked.dialect


def test_addresses_are_octet_identical_as_wcf_demands() -> None:
    bench = asking(addressable=True, offer=True, replies_into="replies")
    [asked] = bench.sent()
    assert isinstance(asked.body, CreateSequence)
    assert isinstance(asked.body.offer, Offer)
    assert asked.body.acks_to == asked.reply_to == asked.body.offer.endpoint == OURS


def test_an_accepted_offer_is_reported() -> None:
    bench = asking(offer=True, replies_into="replies")
    [asked] = bench.sent()
    assert isinstance(asked.body, CreateSequence)
    assert asked.body.offer is not None
    acks_to = Reference(URL, b"<p/>")
    bench.open(accept=acks_to)
    offer = AcceptedOffer(asked.body.offer.identifier, "replies", Dialect(), acks_to)
    assert bench.wsrm.source.accepted_offers == [offer]
    [message] = bench.sent()
    assert message.reply_to == Reference(NONE)  # no reply is wanted, so the peer need not wait for one


def test_an_offer_that_is_not_accepted_and_an_acceptance_of_nothing() -> None:
    bench = asking(offer=True, replies_into="replies")
    bench.open()
    assert bench.wsrm.source.accepted_offers == []
    assert bench.sequence.row.offer == ""
    assert bench.sent()[0].reply_to is None
    bench = asking()
    bench.open(accept=Reference(URL))
    assert bench.wsrm.source.accepted_offers == []


def test_a_response_without_relates_to_is_known_by_its_request() -> None:
    bench = asking()
    bench.answer(bench.posts[0], created(bench, related=False))
    assert bench.sequence.row.identifier == FIRST


def test_a_response_that_relates_to_something_else_creates_nothing() -> None:
    bench = asking(addressable=True)
    envelope = Envelope(dialect=Dialect(), relates_to="urn:uuid:x", body=CreateSequenceResponse(FIRST))
    bench.handle(Came(envelope))
    assert bench.sequence.phase is Phase.CREATING


def test_a_decoupled_response_opens_the_sequence() -> None:
    bench = asking(addressable=True)
    envelope = created(bench)
    bench.answer(bench.take()[0])
    assert bench.posts == []
    bench.handle(Came(envelope))
    assert bench.numbers == [1]
    bench.handle(Came(envelope))  # it comes again
    assert bench.numbers == [1]


@pytest.mark.parametrize("addressable", [False, True])
def test_create_sequence_without_a_response_is_repeated_with_its_message_id(*, addressable: bool) -> None:
    bench = asking(addressable=addressable)
    asked = bench.read(bench.posts[0])
    bench.answer(bench.take()[0])
    bench.advance(4)
    [again] = bench.sent()
    assert again.message_id == asked.message_id


def test_while_a_request_has_no_response_it_is_not_sent_twice() -> None:
    bench = asking()
    bench.advance(100)
    assert len(bench.posts) == 1


def test_a_peer_that_never_creates_lets_messages_expire() -> None:
    bench = asking(addressable=True)
    bench.put("short", negative_journaling=True, time_to_reach_queue=60)
    for _ in range(40):
        for post in bench.take():
            bench.answer(post)
        bench.advance(5)
    assert bench.waiting() == 1
    dead = bench.queue("system$;deadletter").order.first()
    assert dead is not None
    assert dead.reason is MessageClass.NACK_REACH_QUEUE_TIMEOUT


@pytest.mark.parametrize("code", [FaultCode.CREATE_SEQUENCE_REFUSED, FaultCode.SENDER, FaultCode.RECEIVER])
def test_a_refusal_lets_the_queue_rest_and_another_request_go(code: FaultCode) -> None:
    bench = asking()
    first = bench.read(bench.posts[0])
    bench.fault(bench.take()[0], code, identifier="")
    assert bench.waiting() == 1
    assert bench.link().history[-1].status is ConnectionStatus.CONNECTION_REFUSED
    assert bench.posts == []
    bench.advance(1)
    [again] = bench.sent()
    assert again.message_id != first.message_id
    assert len(bench.wsrm.source.sequences) == 1


def test_an_identifier_that_is_too_long_is_a_refusal() -> None:
    bench = asking()
    bench.answer(bench.posts[0], created(bench, "x" * 1025))
    assert bench.wsrm.source.sequences == {}
    assert bench.warnings[-1].what == "a sequence cannot be used"


def test_an_identifier_of_another_sequence_is_a_refusal() -> None:
    bench = asking()
    bench.open()
    bench.put("b", to="DIRECT=WSRM://other.example/orders")
    bench.answer(bench.posts[-1], created(bench))
    assert bench.wsrm.source.by_identifier == {FIRST: bench.sequence.number}
    assert len(bench.wsrm.source.sequences) == 1


def test_a_sequence_that_expires_is_replaced_before() -> None:
    bench = asking()
    bench.open(expires=seconds(40))
    bench.acknowledge((1, 1))
    bench.advance(29)
    bench.put("b")
    assert bench.numbers == [2]
    bench.advance(1)
    bench.put("c")
    assert bench.numbers == [2]  # no new number: what was sent is acknowledged first
    bench.acknowledge((1, 2))
    assert bench.kinds() == ["CloseSequence"]


def test_a_creation_whose_messages_left_is_forgotten() -> None:
    bench = SourceBench()
    bench.put("a", time_to_reach_queue=10)
    bench.fail(bench.take()[0])
    for _ in range(10):
        bench.advance(60)
        for post in bench.take():
            bench.fail(post)
    assert bench.waiting() == 0
    assert bench.wsrm.source.sequences == {}
    assert bench.wsrm.source.sessions == {}


def test_the_wait_for_an_answer_ends_with_the_creation() -> None:
    bench = asking()
    bench.advance(1.5)
    bench.open()
    bench.answer(bench.take()[0])
    bench.advance(1.9)
    assert bench.posts == []
    bench.advance(0.1)
    assert bench.numbers == [1]

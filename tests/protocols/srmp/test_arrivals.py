"""Tests the arrival of messages, from their bytes to their role."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.httpr.schemes import HTTPR
from reliquary.protocols.srmp import arrivals
from reliquary.protocols.srmp.codec.values import MessageKind
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import StopManager
from reliquary.queueing.model.message import Message
from reliquary.streams.tables import OutgoingStream
from tests.protocols.srmp.peer import (
    ORDERS,
    RECEIPTS,
    STREAM,
    TORDERS,
    commitment_block,
    envelope,
    receipt,
    stream_message,
    stream_receipt_block,
    user_message,
)
from tests.protocols.srmp.receiving import Receiving, refused

AGENT = f"DIRECT={HTTPR.word}://gamma.example/httpr/mq#orders"
ADMIN = "http://alpha.example/msmq/private$/admin"
ELSEWHERE = "http://gamma.example/msmq/private$/orders"
PUBLIC = "http://gateway.example/shop/orders"


def test_every_kind_of_message_has_a_rule() -> None:
    assert set(arrivals.KINDS) == set(MessageKind)


@pytest.mark.spec("SR-182", "SR-183")
@pytest.mark.parametrize(
    ("post", "element"),
    [
        (("text/plain", b"hello"), "Content-Type"),
        (("text/xml", b"<se:Envelope"), "Envelope"),
        (("text/xml", envelope(ORDERS).replace("<to>", "<too>").replace("</to>", "</too>").encode()), "to"),
        (("text/xml", envelope(ORDERS, priority=8).encode()), "Priority"),
    ],
)
def test_what_is_no_message_is_refused(post: tuple[str, bytes], element: str) -> None:
    refused(Receiving(), post, naming=element)


def test_no_peer_is_refused_before_this_manager_knows_its_own_address() -> None:
    bench = Receiving(addressed=False)
    assert bench.post(*user_message()).status == 500
    assert bench.bodies() == []


# -- routing, 3.1.5.1.3


@pytest.mark.srmp("T-59", "F-42")
@pytest.mark.spec("SR-185", "SR-192", "SR-129")
def test_a_message_for_another_host_is_refused() -> None:
    refused(Receiving(), user_message(ELSEWHERE), naming="to")


@pytest.mark.srmp("T-60")
@pytest.mark.spec("SR-186")
@pytest.mark.parametrize(
    "post", [user_message(ELSEWHERE, number=7), stream_message(4, to=ELSEWHERE, previous=2)]
)
def test_a_message_for_another_host_is_passed_on_as_it_came(post: tuple[str, bytes]) -> None:
    bench = Receiving(settings=SrmpSettings(store_and_forward=True))
    assert bench.post(*post).status == 200
    (message,) = bench.outgoing
    assert message.soap_envelope.encode() in post[1]
    assert message.destination_queue.casefold() == f"DIRECT={ELSEWHERE}".casefold()
    assert not bench.srmp.state.incoming  # whose stream it is, and whether it came before, is for that host
    assert not bench.srmp.state.history.durable
    bench.restart(crash=False)
    assert [each.soap_envelope for each in bench.outgoing] == [message.soap_envelope]


@pytest.mark.spec("SR-186", "SR-219")
def test_a_receipt_for_a_foreign_stream_is_forwarded_though_a_local_one_has_its_number() -> None:
    bench = Receiving(settings=SrmpSettings(store_and_forward=True))
    bench.srmp.state.add_sent(99, OutgoingStream(STREAM, last=3, sender=UUID(int=7)))
    assert (
        bench.post(*receipt(ELSEWHERE, stream_receipt_block(2), 255, action="MSMQ:QM Ordering Ack")).status
        == 200
    )
    assert len(bench.outgoing) == 1
    assert bench.srmp.state.sent[99].stream.acknowledged == 0


@pytest.mark.srmp("F-43")
@pytest.mark.spec("SR-186")
def test_what_cannot_be_passed_on_is_refused() -> None:
    bench = Receiving(settings=SrmpSettings(store_and_forward=True))
    refused(bench, user_message("http://gamma.example/msmq/private$/a\\b/c/d"), naming="to")


@pytest.mark.srmp("T-61")
@pytest.mark.spec("SR-187")
@pytest.mark.parametrize("origin", [PUBLIC, "http://Gateway.example/*"])
def test_a_redirection_leads_into_a_queue_here(origin: str) -> None:
    bench = Receiving(settings=SrmpSettings(inbound_redirections=(Redirection(origin, ORDERS),)))
    assert bench.post(*user_message(PUBLIC)).status == 200
    assert bench.bodies() == [b"hello"]


@pytest.mark.spec("SR-187", "SR-191")
def test_the_queue_that_a_redirection_leads_to_judges() -> None:
    bench = Receiving(settings=SrmpSettings(inbound_redirections=(Redirection(PUBLIC, TORDERS),)))
    refused(bench, user_message(PUBLIC), naming="stream")
    assert bench.post(*stream_message(1, to=PUBLIC)).status == 200
    assert bench.bodies("torders") == [b"1"]


@pytest.mark.spec("SR-188")
def test_a_redirection_leads_to_another_host() -> None:
    bench = Receiving(settings=SrmpSettings(inbound_redirections=(Redirection(ORDERS, ELSEWHERE),)))
    post = user_message(ORDERS)
    assert bench.post(*post).status == 200
    assert bench.bodies() == []
    (message,) = bench.outgoing
    assert message.soap_envelope.encode() in post[1]
    assert list(bench.state.names.outgoing) == [f"direct={ELSEWHERE}"]


# -- another protocol


def redirected(*to: str) -> Receiving:
    """Return a manager that sends on what comes to these URLs, by another protocol."""
    return Receiving(
        settings=SrmpSettings(inbound_redirections=tuple(Redirection(each, AGENT) for each in to))
    )


def of_agent(bench: Receiving) -> list[Message]:
    return [each for each in bench.outgoing if each.destination_queue == AGENT]


@pytest.mark.spec("SR-187")
def test_a_message_for_another_protocol_is_no_longer_one_of_srmp() -> None:
    bench = redirected(ORDERS)
    assert bench.post(*user_message(ORDERS)).status == 200
    assert bench.post(*user_message(ORDERS)).status == 200  # it is known
    (message,) = of_agent(bench)
    assert (message.body, message.soap_envelope, message.transaction) == (b"hello", "", None)
    assert bench.bodies() == []


@pytest.mark.spec("SR-187", "SR-297", "SR-300")
def test_a_stream_goes_on_as_a_transaction_and_its_receipts_are_sent_from_here() -> None:
    bench = redirected(TORDERS)
    asks = {"delivery_to": ADMIN, "commitment": (ADMIN, "positiveOnly"), "flags": "<DeadLetter/>"}
    for number in (1, 2):
        post = stream_message(number, previous=number - 1, priority=8 - number, **asks)  # type: ignore[arg-type]
        assert bench.post(*post).status == 200
        assert bench.post(*post).status == 200
    messages = of_agent(bench)
    assert [each.body for each in messages] == [b"1", b"2"]
    assert all(each.sequence is None and each.acknowledgements == () for each in messages)
    assert len({each.transaction for each in messages}) == 1
    assert messages[0].transaction is not None
    said = [
        (each.to, each.said.get("decision", ""), each.said.get("lastOrdinal", "")) for each in bench.receipts
    ]
    for last in ("1", "2"):
        assert said.count((RECEIPTS, "positive", last)) == 1
    assert (said.count((ADMIN, "", "")), said.count((ADMIN, "positive", ""))) == (2, 2)


def test_a_message_that_cannot_go_on_has_no_receipts() -> None:
    bench = redirected(TORDERS)
    bench.handle(StopManager())
    asks = {"delivery_to": ADMIN, "commitment": (ADMIN, "positiveOnly")}
    assert bench.post(*stream_message(1, **asks)).status == 500  # type: ignore[arg-type]
    assert bench.outgoing == []


def test_a_receipt_goes_to_no_other_protocol() -> None:
    bench = redirected(ORDERS)
    refused(bench, receipt(ORDERS, commitment_block("positive"), 0x4000), naming="to")


# -- kinds


@pytest.mark.srmp("F-57", "F-58")
@pytest.mark.spec("SR-228")
@pytest.mark.parametrize("to", [ORDERS, "http://bench.example/MSMQ/PRIVATE$/order_queue$"])
def test_receipts_for_streams_that_are_not_sent_are_consumed(to: str) -> None:
    bench = Receiving()
    ack = {"action": "MSMQ:QM Ordering Ack"}
    assert bench.post(*receipt(to, stream_receipt_block(3), 255, **ack)).status == 200
    final = stream_receipt_block(3) + commitment_block("negative")
    assert bench.post(*receipt(to, final, 0xC002, **ack)).status == 200
    assert bench.bodies() == []


@pytest.mark.srmp("F-53")
@pytest.mark.spec("SR-194")
@pytest.mark.parametrize(
    ("block", "message_class", "action"),
    [
        ("", 1, "MSMQ:"),
        ("", 255, "MSMQ:QM Ordering Ack"),
        (stream_receipt_block(3), 255, "MSMQ:no ack"),
        (stream_receipt_block(3), 2, "MSMQ:QM Ordering Ack"),
        (commitment_block("positive"), 0xC002, "MSMQ:"),
        (commitment_block("negative"), 0x4000, "MSMQ:"),
    ],
)
def test_what_is_of_no_kind_is_ignored(block: str, message_class: int, action: str) -> None:
    bench = Receiving()
    assert bench.post(*receipt(ORDERS, block, message_class, action=action)).status == 200
    assert bench.bodies() == []

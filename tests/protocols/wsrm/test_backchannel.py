"""Tests replies to clients that cannot be reached: on the response to their request, or to a
MakeConnection.
"""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import Instant, seconds
from reliquary.protocols.wsrm.backchannel import on_make_connection
from reliquary.protocols.wsrm.codec.addressing import POLLED
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    MakeConnection,
    Offer,
    Payload,
    Reference,
    SequenceHeader,
)
from reliquary.protocols.wsrm.events import CallerLeft
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.settings import WsrmSettings
from tests.protocols.wsrm.wsrm_harness import ANONYMOUS, URL, WsrmBench, acknowledged, message

OFFER = Offer("urn:uuid:00000000-0000-4000-8000-00000000000f")
REQUEST = "urn:uuid:11111111-1111-4111-8111-111111111111"
MAILBOX = Reference(f"{POLLED}client-7")


class ReplyBench(WsrmBench):
    """A manager whose application answers requests."""

    def request(self, sequence: str, number: int = 1, message_id: str = REQUEST, **parts: Any) -> int:
        """Post a request as a client; return the caller that waits."""
        return self.begin_post(message(sequence, number, message_id=message_id, **parts))

    def reply(self, content: bytes = b"<reply/>") -> None:
        """The application takes the next request and answers it."""
        (taken,) = self.receive("orders").messages
        asked = taken.message
        answer = self.send(asked.response_queue, content, correlation=asked.identifier)
        assert not answer.why

    def envelope_to(self, caller: int) -> Envelope:
        """Return the envelope of a response."""
        answer = self.response_to(caller)
        assert answer is not None
        return decode(answer.content_type, answer.body)


def test_a_reply_is_the_response_to_its_request() -> None:
    bench = ReplyBench()
    sequence = bench.sequence(offer=OFFER)
    caller = bench.request(sequence)
    assert bench.response_to(caller) is None
    bench.reply(b"<done/>")
    reply = bench.envelope_to(caller)
    assert reply.relates_to == REQUEST
    assert reply.sequence == SequenceHeader(OFFER.identifier, 1)
    assert reply.body == Payload(b"<done/>")
    assert acknowledged(reply).ranges == ((1, 1),)  # it acknowledges the request
    assert bench.wsrm.backchannel.unanswered == {}


@pytest.mark.parametrize("message_id", ["opaque text", "uuid:7@11111111-1111-4111-8111-111111111111"])
def test_relates_to_is_the_message_id_as_the_client_wrote_it(message_id: str) -> None:
    bench = ReplyBench()
    sequence = bench.sequence(offer=OFFER)
    caller = bench.request(sequence, message_id=message_id)
    bench.restart()
    bench.request(sequence, message_id=message_id)
    again = bench.request(sequence, message_id=message_id)
    del caller
    bench.reply()
    assert bench.envelope_to(again).relates_to == message_id


def test_a_lost_reply_comes_again_with_the_repeated_request() -> None:
    bench = ReplyBench()
    sequence = bench.sequence(offer=OFFER)
    first = bench.request(sequence)
    bench.reply()
    second = bench.request(sequence)
    assert bench.envelope_to(second) == bench.envelope_to(first)
    assert bench.bodies() == []  # the application got it once


def test_a_repeated_request_waits_in_place_of_the_first() -> None:
    bench = ReplyBench()
    sequence = bench.sequence(offer=OFFER)
    first, second = bench.request(sequence), bench.request(sequence)
    given_up = bench.response_to(first)
    assert given_up is not None
    assert given_up.status == 202
    bench.reply()
    assert bench.envelope_to(second).relates_to == REQUEST


def test_a_client_may_ask_again_without_a_reply_in_time() -> None:
    bench = ReplyBench(settings=WsrmSettings(reply_wait=seconds(5), seed=b"x"))
    sequence = bench.sequence(offer=OFFER)
    caller = bench.request(sequence)
    bench.advance(6)
    answer = bench.response_to(caller)
    assert answer is not None
    assert (answer.status, answer.body) == (202, b"")
    bench.reply()
    assert bench.envelope_to(bench.request(sequence)).relates_to == REQUEST


def test_a_client_that_left_is_not_waited_for() -> None:
    bench = ReplyBench()
    sequence = bench.sequence(offer=OFFER)
    caller = bench.request(sequence)
    bench.handle(CallerLeft(caller))
    assert bench.wsrm.backchannel.unanswered == {}
    bench.reply()
    assert bench.response_to(caller) is None
    assert bench.envelope_to(bench.request(sequence)).relates_to == REQUEST


def test_two_requests_get_their_own_replies_in_any_order() -> None:
    bench = ReplyBench()
    sequence = bench.sequence(offer=OFFER)
    other = "urn:uuid:22222222-2222-4222-8222-222222222222"
    first, second = bench.request(sequence), bench.request(sequence, 2, other)
    taken = [each.message for _ in range(2) for each in bench.receive("orders").messages]
    for asked, content in ((taken[1], b"<second/>"), (taken[0], b"<first/>")):
        bench.send(asked.response_queue, content, correlation=asked.identifier)
    assert bench.envelope_to(second).body == Payload(b"<second/>")
    assert bench.envelope_to(first).body == Payload(b"<first/>")


def test_an_acknowledged_reply_leaves_its_queue() -> None:
    bench = ReplyBench()
    sequence = bench.sequence(offer=OFFER)
    bench.request(sequence)
    bench.reply()
    (queue,) = bench.state.names.outgoing.values()
    assert len(queue.order.locked) == 1
    confirmed = (Acknowledgement(OFFER.identifier, ((1, 1),)),)
    bench.request(sequence, 2, "urn:uuid:22222222-2222-4222-8222-222222222222", acknowledgements=confirmed)
    assert len(queue.order.locked) + len(queue.order) == 0


# -- MakeConnection


def poll(bench: WsrmBench, **selection: str) -> Envelope | None:
    """Send MakeConnection as a client that polls; return the envelope in the response."""
    return bench.post(Envelope(dialect=Dialect(), to=Reference(URL), body=MakeConnection(**selection)))


def polled_sequence(bench: WsrmBench, offer: Offer | None = None) -> str:
    """Create a sequence as a client that polls; return its identifier."""
    asked = Envelope(
        dialect=Dialect(),
        to=Reference(URL),
        message_id="urn:uuid:00000000-0000-4000-8000-000000000001",
        reply_to=MAILBOX,
        body=CreateSequence(MAILBOX, offer=offer),
    )
    assert bench.post(asked) is None
    created = poll(bench, address=MAILBOX.address)
    assert created is not None
    assert isinstance(created.body, CreateSequenceResponse)
    assert created.relates_to == asked.message_id
    return created.body.identifier


def test_an_acknowledgement_waits_for_the_poll() -> None:
    bench = ReplyBench()
    sequence = polled_sequence(bench)
    assert bench.post(message(sequence, 1)) is None
    found = poll(bench, address=MAILBOX.address)
    assert acknowledged(found).ranges == ((1, 1),)
    assert poll(bench, address=MAILBOX.address) is None


def test_replies_wait_for_polls_and_say_that_more_are_pending() -> None:
    bench = ReplyBench()
    sequence = polled_sequence(bench, Offer(OFFER.identifier, MAILBOX))
    for number in (1, 2):
        name = f"urn:uuid:{number}1111111-1111-4111-8111-111111111111"
        assert bench.post(message(sequence, number, message_id=name, reply_to=MAILBOX)) is None
        bench.reply(b"<reply>%d</reply>" % number)
    first = poll(bench, address=MAILBOX.address)
    second = poll(bench, address=MAILBOX.address)
    assert first is not None
    assert second is not None
    assert [each.body for each in (first, second)] == [
        Payload(b"<reply>1</reply>"),
        Payload(b"<reply>2</reply>"),
    ]
    assert [each.pending for each in (first, second)] == [True, False]


def test_a_poll_selects_something_that_we_know() -> None:
    found = poll(ReplyBench())
    assert found is not None
    assert isinstance(found.body, Fault)
    assert found.body.code is FaultCode.MISSING_SELECTION


def test_a_selection_that_we_do_not_know_is_refused() -> None:
    strange = MakeConnection(MAILBOX.address, unsupported="{urn:x}Other")
    exchange = Exchange(Envelope(dialect=Dialect(), body=strange), to=1)
    with pytest.raises(WsrmFault) as refused:
        on_make_connection(ReplyBench().wsrm, exchange, strange, Instant(1))
    assert refused.value.fault.code is FaultCode.UNSUPPORTED_SELECTION
    assert b"Other" in refused.value.fault.detail


def test_a_poll_of_a_malformed_address_finds_nothing() -> None:
    assert poll(ReplyBench(), address=ANONYMOUS.address) is None

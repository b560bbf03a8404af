"""Tests envelopes that are no responses: they go to a URL, into a mailbox, or are dropped."""

from __future__ import annotations

from reliquary.protocols.wsrm import transport
from reliquary.protocols.wsrm.codec.addressing import POLLED
from reliquary.protocols.wsrm.codec.values import Dialect, Envelope, Reference
from reliquary.protocols.wsrm.effects import Post
from reliquary.queueing.travel.failures import Failure
from tests.protocols.wsrm.wsrm_harness import ANONYMOUS, WsrmBench, acknowledged, message

THERE = Reference("http://client.example/acks", b'<p xmlns="urn:p">7</p>')


def test_an_acknowledgement_to_an_address_waits_for_the_interval_and_goes_alone() -> None:
    bench = WsrmBench()
    sequence = bench.sequence_to(THERE)
    bench.out.clear()
    assert bench.post(message(sequence, 1)) is None
    assert bench.posted == []
    bench.advance(0.25)
    ((post, left),) = bench.posted
    assert post.url == THERE.address
    assert acknowledged(left).ranges == ((1, 1),)
    assert b'xmlns="urn:p"' in post.body  # the reference parameters are header blocks of the target


def test_a_route_that_failed_is_used_again_with_a_new_connection() -> None:
    bench = WsrmBench()
    sequence = bench.sequence_to(THERE)
    (created, _) = bench.posted[-1]
    bench.fail(created, Failure.LOST)
    bench.post(message(sequence, 1, ack_requests=(sequence,)))
    (post, _) = bench.posted[-1]
    assert (post.connection, post.epoch) == (created.connection, created.epoch + 1)
    assert post.connection < 0


def test_a_mailbox_keeps_the_newest_envelopes() -> None:
    state = WsrmBench().wsrm
    address = f"{POLLED}x"
    for number in range(transport.MAILBOX_LIMIT + 3):
        transport.send(state, Reference(address), Envelope(dialect=Dialect(), action=f"urn:{number}"), 1)  # type: ignore[arg-type]
    kept = [each.action for each in state.backchannel.mailboxes[address]]
    assert (len(kept), kept[0]) == (transport.MAILBOX_LIMIT, "urn:3")


def test_nothing_is_sent_to_an_address_that_only_responses_reach() -> None:
    state = WsrmBench().wsrm
    transport.send(state, ANONYMOUS, Envelope(dialect=Dialect()), 1)  # type: ignore[arg-type]
    effects = state.draft.take().effects
    assert not any(isinstance(each, Post) for each in effects)
    assert effects

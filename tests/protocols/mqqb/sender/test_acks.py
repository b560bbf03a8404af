"""Tests order and final acknowledgements of the peer."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.mqqb.events import ResetStream
from reliquary.protocols.mqqb.state import Count
from reliquary.streams.records import outgoing_name
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, Peer, stream_of, waiting


@pytest.mark.spec("QB-226", "QB-228")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 6), max_size=8))
def test_order_acknowledgements_are_cumulative_in_any_order(numbers: list[int]) -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, *(b"%d" % number for number in range(1, 7)))
    peer = bench.dialled()
    stream = stream_of(peer.messages[0])
    for number in numbers:
        peer.order_ack(stream, number)
    assert waiting(bench) == 6 - max(numbers, default=0)


def test_a_refusal_is_a_dead_letter_and_confirms_all_before_it() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", b"3")
    peer = bench.dialled()
    peer.final_ack(stream_of(peer.messages[0]), 2, 0x8000)
    assert bench.bodies("system$;deadxact")[0] == b"2"
    bench.advance(1)
    assert waiting(bench) <= 1  # 1 is confirmed, 2 refused, and 3 shares the transaction of 2


def test_an_unknown_class_counts_as_a_refusal() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", negative_journaling=True)
    peer = bench.dialled()
    peer.final_ack(stream_of(peer.messages[0]), 1, 0xFEDC)
    assert bench.bodies("system$;deadxact") == [b"1"]


# -- a stream that was given up


def renumbered(**attributes: bool) -> tuple[MqqbBench, Peer, int, list[UserMessage]]:
    """Return a bench that sent two messages again in a new stream, its peer, the old stream and packets."""
    bench = MqqbBench()
    for body in (b"1", b"2"):
        bench.transact(ELSEWHERE, body, **attributes)
    peer = bench.dialled()
    old = peer.messages[:]
    (queue,) = bench.mqqb.sent
    bench.ask(ResetStream(0, outgoing_name(queue), True))
    return bench, peer, stream_of(old[0]), old


@pytest.mark.mqqb("T-75")
@pytest.mark.spec("QB-233")
def test_a_final_acknowledgement_of_the_old_stream_is_matched_by_the_identifier() -> None:
    bench, peer, old, packets = renumbered(positive_journaling=True)
    peer.ack_all()
    peer.final_ack(old, 2, 0x4000, message_id=packets[1].user.message_id)
    assert bench.bodies("system$;journal") == [b"2"]
    assert waiting(bench) == 1
    peer.final_ack(old, 2, 0x4000, message_id=packets[1].user.message_id)
    peer.final_ack(old, 1, 0x4000, message_id=99_999)
    peer.final_ack(old, 1, 0x4000, source=UUID(int=9), message_id=packets[0].user.message_id)
    assert waiting(bench) == 1
    assert bench.mqqb.counts[Count.STRANGE_ACKS] == 3


@pytest.mark.mqqb("T-75", "T-79")
def test_a_final_acknowledgement_of_the_old_stream_comes_from_its_receiver_or_is_ignored() -> None:
    bench, peer, old, packets = renumbered(positive_journaling=True)
    peer.ack_all()
    peer.order_ack(stream_of(peer.messages[-1]), 2)
    stranger = bench.accepted("10.0.0.66", UUID(int=66))
    before = len(bench.warnings)
    stranger.final_ack(old, 1, 0x4000, message_id=packets[0].user.message_id)
    assert waiting(bench) == 2
    assert bench.mqqb.counts[Count.STRANGE_ACKS] == 1  # no message was looked for: it counts once
    assert len(bench.warnings) == before


@pytest.mark.mqqb("T-75")
def test_an_identifier_that_several_messages_share_matches_none() -> None:
    bench, peer, old, packets = renumbered(positive_journaling=True)
    peer.ack_all()
    (sent,) = bench.mqqb.sent.values()
    sent.finals.update(dict.fromkeys(sent.finals, packets[0].user.message_id))  # copies for two queues
    peer.final_ack(old, 1, 0x4000, message_id=packets[0].user.message_id)
    assert waiting(bench) == 2
    assert bench.mqqb.counts[Count.STRANGE_ACKS] == 1


@pytest.mark.mqqb("T-72", "T-73")
@pytest.mark.spec("QB-233", "QB-234")
@pytest.mark.parametrize(
    ("attribute", "message_class"),
    [("positive_journaling", 0xC001), ("negative_journaling", 0x4000)],
    ids=["a failure, and only the journal was asked for", "received, and only dead letters were asked for"],
)
def test_each_final_acknowledgement_ends_its_message(attribute: str, message_class: int) -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", **{attribute: True})
    peer = bench.dialled()
    peer.ack_all()
    stream = stream_of(peer.messages[0])
    peer.order_ack(stream, 1)
    assert waiting(bench) == 1
    peer.final_ack(stream, 1, message_class)
    assert waiting(bench) == 0
    assert bench.bodies("system$;journal") == []

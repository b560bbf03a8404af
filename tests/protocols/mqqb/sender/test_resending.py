"""Messages without an order acknowledgement are sent again."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.state import Count
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, place_of, stream_of


@pytest.mark.spec("QB-235")
def test_all_messages_without_an_acknowledgement_go_again_in_their_order() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", b"3")
    peer = bench.dialled()
    peer.ack_all()
    peer.order_ack(stream_of(peer.messages[0]), 1)
    bench.advance(30.1)
    assert [place_of(each) for each in peer.messages[3:]] == [(2, 1), (3, 2)]
    assert bench.mqqb.counts[Count.RETRANSMITTED] == 2


def test_nothing_goes_again_while_the_first_message_is_under_way() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1")
    peer = bench.dialled()
    bench.advance(31)
    assert len(peer.messages) == 1


@pytest.mark.spec("QB-225")
def test_a_peer_that_cannot_be_reached_does_not_make_the_wait_longer() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1")
    peer = bench.dialled()
    peer.ack_all()
    peer.lose()
    for _ in range(60):  # ten minutes without an answer
        bench.advance(10)
        if bench.mqqb.sessions:
            bench.fail_dial()
    bench.advance(5.1)
    back = bench.dialled()
    back.ack_all()
    bench.advance(31)
    assert back.bodies == [b"1", b"1"]


@pytest.mark.mqqb("G-35")
def test_an_idle_session_is_opened_again_for_messages_that_only_wait_for_an_acknowledgement() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1")
    peer = bench.dialled()
    peer.ack_all()
    peer.lose()
    bench.advance(5.1)
    assert bench.dialled().bodies == [b"1"]

"""Tests what a SessionHeader says about packets: counters of 16 bits, in any state of the session."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.message import Delivery
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, waiting


@pytest.mark.spec("QB-201", "QB-204", "QB-206")
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 70_000), st.lists(st.booleans(), min_size=1, max_size=40))
def test_acknowledgements_are_right_at_any_count(before: int, kinds: list[bool]) -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"first")
    peer = bench.dialled()
    peer.ack_all()
    session = peer.state
    session.sent = session.acked = session.recoverable_sent = before
    for express in kinds:
        bench.send(ELSEWHERE, b"x", delivery=Delivery.EXPRESS if express else Delivery.RECOVERABLE)
    recoverable = kinds.count(False)
    assert waiting(bench) == len(kinds)
    peer.ack((before + len(kinds)) & 0xFFFF)
    assert waiting(bench) == recoverable
    done = 0
    while done < recoverable:
        count = min(32, recoverable - done)
        peer.ack((before + len(kinds)) & 0xFFFF, (before + done + 1) & 0xFFFF, (1 << count) - 1)
        done += count
        assert waiting(bench) == recoverable - done
    assert bench.mqqb.counts[Count.MALFORMED] == 0


def test_all_before_the_first_bit_is_stored_too() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"1", b"2", b"3")
    peer = bench.dialled()
    peer.ack(3, first=3, bits=1)
    assert waiting(bench) == 0

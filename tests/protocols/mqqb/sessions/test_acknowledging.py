"""SessionHeaders report each stored packet once, for any order of packets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols.mqqb.mqqb_harness import MqqbBench


@pytest.mark.spec("QB-018", "QB-213", "QB-216")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=120))
def test_every_recoverable_packet_is_reported_once(packets: list[tuple[bool, bool]]) -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    for express, pause in packets:
        peer.user(b"x", express=express)
        if pause:
            bench.advance(0.6)
    bench.advance(11)
    reported = [
        header.recoverable_ack + place
        for header in peer.acks
        for place in range(32)
        if header.recoverable_set >> place & 1
    ]
    assert reported == list(range(1, sum(not express for express, _ in packets) + 1))
    assert peer.acks[-1].ack == len(packets)

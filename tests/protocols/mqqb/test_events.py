"""Tests of the values that are the events of MQQB."""

from __future__ import annotations

from reliquary.protocols.mqqb.events import ConnectionLost, PacketsArrived
from tests.protocols.mqqb.mqqb_harness import MqqbBench


def test_events_of_a_session_that_was_closed_are_ignored() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    packet = peer.made(b"late").encode()
    peer.lose()
    bench.handle(PacketsArrived(peer.session, (packet,)))
    bench.handle(ConnectionLost(peer.session))
    assert bench.bodies("orders") == []

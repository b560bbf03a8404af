"""Tests what a restart leaves: sequences of both directions and the counters, and no connections."""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.values import CreateSequenceResponse, Dialect, Envelope
from reliquary.protocols.wsrm.state import Backchannel, PeerConnections, TurnState
from tests.protocols.wsrm.wsrm_harness import WsrmBench, acknowledged, message


def test_sequences_of_both_directions_are_there_again() -> None:
    bench = WsrmBench()
    sequence = bench.sequence()
    bench.post(message(sequence, 1))
    bench.send("DIRECT=WSRM://far.example/svc", b"<out/>")
    (create, _) = bench.posted[-1]
    bench.answer(create, Envelope(dialect=Dialect(), body=CreateSequenceResponse("urn:far")))
    before = bench.wsrm
    bench.restart()
    after = bench.wsrm
    assert after.counters == before.counters
    assert after.destination.by_identifier == before.destination.by_identifier
    assert {number: each.row for number, each in after.source.sequences.items()} == {
        number: each.row for number, each in before.source.sequences.items()
    }
    assert (after.backchannel, after.turn, after.connections) == (
        Backchannel(),
        TurnState(),
        PeerConnections(),
    )
    assert acknowledged(bench.post(message(sequence, 1))).ranges == ((1, 1),)
    assert bench.bodies() == [b"<a/>"]

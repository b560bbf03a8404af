"""Tests of the values that are the effects of MQQB."""

from __future__ import annotations

from reliquary.protocols.mqqb.effects import HangUp, SendPackets
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench


def test_serials_count_all_effects_of_a_session_from_one_on() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    bench.send(ELSEWHERE, b"b")
    peer.ack(9)  # it acknowledges what was never sent
    serials = [
        each.serial
        for each in bench.out
        if isinstance(each, SendPackets | HangUp) and each.session == peer.session
    ]
    assert serials == list(range(1, len(serials) + 1))
    assert peer.hung_up

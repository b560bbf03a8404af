"""Tests the handshake of a session."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.message import NO_GUID
from reliquary.wire.packet.internal import EstablishConnection
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, PEER, MqqbBench


@pytest.mark.spec("QB-182", "QB-195", "QB-196")
def test_an_open_session_knows_its_peer_in_each_role() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    mine, theirs = bench.dialled(), bench.accepted("10.0.0.5")
    assert mine.state.peer == theirs.state.peer == PEER
    assert bench.mqqb.known_at == {"10.0.0.1": (PEER, "10.0.0.1")}
    assert bench.mqqb.by_peer[PEER] == [mine.session, theirs.session]


def test_a_call_before_the_manager_is_ready_is_refused() -> None:
    bench = MqqbBench(start=False)
    peer = bench.accept()
    peer.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1))
    (answer,) = peer.got
    assert isinstance(answer, EstablishConnection)
    assert answer.refused
    assert bench.mqqb.counts[Count.REFUSED] == 1

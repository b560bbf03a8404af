"""Tests of the reports to the manager about sessions."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.sessions.links import hop
from reliquary.queueing.model.travel.link import OutgoingState
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, link, waiting


@pytest.mark.parametrize(
    ("address", "shown"), [("10.0.0.7", "IP=10.0.0.7"), ("fe80::1%eth0", "IPv6=fe80::1%eth0"), ("x", "x")]
)
def test_an_address_is_shown_with_its_family(address: str, shown: str) -> None:
    assert hop(address) == shown


def test_a_lost_session_rests_and_messages_without_acknowledgement_go_again() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2")
    peer = bench.dialled()
    peer.ack_all()
    peer.lose()
    assert link(bench).state is OutgoingState.INACTIVE
    assert link(bench).resting
    assert link(bench).accepted == {}
    assert waiting(bench) == 2
    bench.advance(5.1)
    assert bench.dialled().bodies == [b"1", b"2"]

"""Tests that a session which ends leaves nothing behind."""

from __future__ import annotations

from reliquary.protocols.mqqb.events import ConnectionLost
from reliquary.protocols.mqqb.sessions import acknowledging, closing
from reliquary.protocols.mqqb.state import Count
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench

OF_SESSIONS = {closing.INITIALIZATION, closing.CLEANUP, closing.ACK_WAIT, acknowledging.ACK_SEND}


def test_a_closed_session_leaves_nothing_behind() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    peer.user(b"x")
    peer.lose()
    state = bench.mqqb
    assert (state.sessions, state.by_host, state.by_peer, state.unsent) == ({}, {}, {}, {})
    assert not [name for name, _ in bench.timers if name in OF_SESSIONS]


def test_bytes_that_are_no_packets_are_counted_and_warned_of() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    bench.handle(ConnectionLost(peer.session, "no signature", malformed=True))
    assert bench.mqqb.counts[Count.MALFORMED] == 1
    assert (bench.warnings[-1].about, bench.warnings[-1].why) == ("10.0.0.1", "no signature")


def test_timers_of_closed_sessions_have_no_effect() -> None:
    bench = MqqbBench()
    for rule in (
        closing.on_initialization,
        closing.on_cleanup,
        closing.on_ack_wait,
        acknowledging.on_ack_send,
    ):
        rule(bench.mqqb, 77, bench.now)
    assert not bench.mqqb.draft.has_facts

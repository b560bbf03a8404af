"""Tests records of sessions and streams for administrators."""

from __future__ import annotations

import pytest

from reliquary.base.time import as_text
from reliquary.protocols.mqqb.views import sessions, streams
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, PEER, MqqbBench


def test_a_session_shows_its_window_and_what_is_under_way() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, *(b"%d" % number for number in range(10)))
    peer = bench.dialled(window=4)
    peer.user(b"x")
    (shown,) = sessions(bench.mqqb)
    assert (shown.name, shown.direction, shown.peer, shown.manager) == ("out-1", "out", "10.0.0.1", str(PEER))
    assert (shown.state, shown.window, shown.unacknowledged, shown.unstored) == ("open", 4, 4, 4)
    assert (shown.waiting, shown.to_acknowledge, shown.sent, shown.received) == (6, 1, 4, 1)
    assert shown.queues == [ELSEWHERE]


def test_sessions_that_we_opened_come_first() -> None:
    bench = MqqbBench()
    bench.accepted("10.0.0.5")
    bench.accept("10.0.0.6")
    bench.send(ELSEWHERE, b"a")
    assert [each.name for each in sessions(bench.mqqb)] == ["out-1", "in-1", "in-2"]
    assert [each.manager for each in sessions(bench.mqqb)] == [None, str(PEER), None]


@pytest.mark.mqqb("T-78")
def test_a_stream_that_comes_shows_how_far_it_got() -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    assert list(streams(bench.state, bench.mqqb)) == []
    for number, previous in ((1, 0), (2, 1), (9, 8)):
        peer.user(b"", to="TCP:10.0.0.2\\private$\\ledger", stream=(number, previous))
    (shown,) = streams(bench.state, bench.mqqb)
    assert (shown.protocol, shown.direction, shown.peer) == ("mqqb", "in", str(PEER))
    assert shown.queue == "direct=tcp:10.0.0.2\\private$\\ledger"
    assert (shown.last, shown.acknowledged, shown.awaiting, shown.rejected) == (2, 0, 2, 1)
    assert (shown.receipts_to, shown.used) == ("10.0.0.1", as_text(bench.now))
    bench.advance(1)
    (shown,) = streams(bench.state, bench.mqqb)
    assert (shown.acknowledged, shown.awaiting) == (2, 0)


@pytest.mark.mqqb("T-78")
def test_a_stream_that_goes_shows_what_waits_for_acknowledgement_and_until_when() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", b"3")
    peer = bench.dialled()
    peer.ack_all()
    (shown,) = streams(bench.state, bench.mqqb)
    peer.order_ack(int(shown.stream), 1)
    (shown,) = streams(bench.state, bench.mqqb)
    assert (shown.direction, shown.peer, shown.queue) == ("out", "10.0.0.1", ELSEWHERE)
    assert (shown.last, shown.acknowledged, shown.awaiting) == (3, 1, 2)
    assert shown.next_resend is not None
    assert shown.next_resend > as_text(bench.now)
    peer.order_ack(int(shown.stream), 3)
    assert list(streams(bench.state, bench.mqqb)) == []

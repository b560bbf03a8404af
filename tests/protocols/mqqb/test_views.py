"""Records of sessions for administrators."""

from __future__ import annotations

from reliquary.protocols.mqqb.views import sessions
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

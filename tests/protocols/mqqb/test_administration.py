"""Sessions are closed by an administrator or by the server."""

from __future__ import annotations

from reliquary.protocols.mqqb.events import CloseSession, EndSessions
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench


def test_a_session_that_is_closed_is_opened_again_if_messages_wait() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    assert bench.ask(CloseSession(0, "out-1")).done
    assert peer.hung_up
    bench.advance(5.1)
    assert bench.dialled().bodies == [b"a"]


def test_an_unknown_session_is_not_closed() -> None:
    bench = MqqbBench()
    answer = bench.ask(CloseSession(0, "in-9"))
    assert (answer.done, answer.why) == (False, "there is no session in-9")


def test_the_end_of_the_server_closes_all_sessions_and_opens_no_other() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peers = [bench.dialled(), bench.accepted("10.0.0.5")]
    bench.handle(EndSessions())
    assert all(peer.hung_up for peer in peers)
    bench.advance(60)
    assert len(bench.dials) == 1

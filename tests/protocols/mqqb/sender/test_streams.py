"""The stream of an outgoing queue ends with its last message."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.effects import SendPackets
from reliquary.protocols.mqqb.sessions.links import AHEAD
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.queueing.model.events import PurgeQueue
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench


def test_a_purge_ends_the_stream_and_its_wait() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2")
    peer = bench.dialled()
    bench.ask(PurgeQueue(0, ELSEWHERE))
    peer.lose()  # until then the messages are locked
    bench.advance(1)
    assert bench.mqqb.sent == {}
    assert not [name for name, _ in bench.timers if name == "mqqb-order-wait"]


@pytest.mark.parametrize("transactional", [False, True], ids=["recoverable", "transactional"])
def test_a_sync_serves_several_windows(transactional: bool) -> None:
    """The backlog is handed out ahead of the window; its packets leave at once, without a sync for each."""
    bench = MqqbBench(settings=MqqbSettings(window=4))
    bodies = [b"%d" % number for number in range(20 * 4)]
    (bench.transact if transactional else bench.send)(ELSEWHERE, *bodies)
    bench.flush()
    peer = bench.dialled()
    bench.flush()
    first, marks = len(bench.out), bench.mqqb.sender.last_mark
    while len(peer.messages) < len(bodies):
        before = len(peer.messages)
        peer.ack_all()
        assert len(peer.messages) > before
    waited = [each for each in bench.out[first:] if type(each) is SendPackets]
    assert waited == []
    assert 0 < bench.mqqb.sender.last_mark - marks <= 20 // (AHEAD - 2) + 2
    assert [each.properties.body for each in peer.messages] == bodies

"""The stream of an outgoing queue ends with its last message."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.sender.streams import wants_final
from reliquary.queueing.model.events import PurgeQueue
from reliquary.queueing.model.message import Message
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench


@pytest.mark.spec("QB-229")
@pytest.mark.parametrize("wish", ["negative_journaling", "positive_journaling", "final_ack_required"])
def test_three_wishes_ask_for_a_final_acknowledgement(wish: str) -> None:
    assert wants_final(Message.of(**{wish: True}))
    assert not wants_final(Message())


def test_a_purge_ends_the_stream_and_its_wait() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2")
    peer = bench.dialled()
    bench.ask(PurgeQueue(0, ELSEWHERE))
    peer.lose()  # until then the messages are locked
    bench.advance(1)
    assert bench.mqqb.sent == {}
    assert not [name for name, _ in bench.timers if name == "mqqb-order-wait"]

"""Messages are numbered and put into outboxes."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.message import Delivery
from reliquary.streams import numbering
from reliquary.streams.facts import MessagesNumbered
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, place_of


@pytest.mark.spec("QB-281")
def test_a_window_of_messages_is_numbered_in_one_fact() -> None:
    bench = MqqbBench()
    for number in range(20):
        bench.transact(ELSEWHERE, b"%d" % number)
    peer = bench.dialled()
    assert [place_of(each)[0] for each in peer.messages] == list(range(1, 21))
    facts = [fact for fact in bench.facts if isinstance(fact, MessagesNumbered)]
    assert [len(fact.lookup_ids) for fact in facts] == [20]


def test_a_stream_that_has_given_its_last_number_takes_no_more_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from reliquary.protocols.mqqb.sender import sending

    monkeypatch.setattr(sending, "LAST_NUMBER", 3)
    assert numbering.LAST_NUMBER > 3
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", b"3", b"4")
    peer = bench.dialled()
    assert peer.bodies == [b"1", b"2", b"3"]


def test_express_and_recoverable_messages_count_differently() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"e", delivery=Delivery.EXPRESS)
    bench.send(ELSEWHERE, b"r")
    peer = bench.dialled()
    assert (peer.state.sent, peer.state.recoverable_sent) == (2, 1)

"""Tests records of streams for administrators."""

from __future__ import annotations

from reliquary.base.time import as_text
from reliquary.protocols.srmp.state import Count
from reliquary.protocols.srmp.views import streams
from reliquary.queueing.model.events import CreateQueue
from reliquary.queueing.model.queue import QueueSettings
from tests.protocols.srmp.peer import ALPHA, RECEIPTS, STREAM, stream_message
from tests.protocols.srmp.sending import SHOP, Sender
from tests.protocols.srmp.srmp_harness import SrmpBench


def bench_with_a_transactional_queue() -> SrmpBench:
    bench = SrmpBench()
    bench.ask(CreateQueue(0, "torders", QueueSettings(transactional=True)))
    return bench


def test_a_stream_that_comes_shows_how_far_it_got() -> None:
    bench = bench_with_a_transactional_queue()
    assert list(streams(bench.state, bench.srmp.state)) == []
    for number in (1, 2, 9):
        assert bench.post(*stream_message(number)).status == 200
    assert bench.post(*stream_message(2)).status == 200  # again
    counts = bench.srmp.state.counts
    assert (counts[Count.DUPLICATES], counts[Count.OUT_OF_TURN], counts[Count.RECEIPTS_SENT]) == (1, 1, 0)
    [view] = streams(bench.state, bench.srmp.state)
    assert (view.direction, view.peer, view.stream) == ("in", str(ALPHA), str(STREAM))
    assert view.queue.endswith("torders")
    assert (view.last, view.acknowledged, view.awaiting, view.rejected) == (2, 0, 2, 2)
    assert (view.receipts_to, view.used) == (RECEIPTS, as_text(bench.now))


def test_a_stream_that_goes_shows_what_waits_for_receipts_and_until_when() -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    bench.answer_all(200)
    bench.receipt(1)
    [view] = streams(bench.state, bench.srmp.state)
    assert (view.direction, view.peer, view.queue) == ("out", "shop.example", SHOP)
    assert (view.last, view.acknowledged, view.awaiting) == (3, 1, 2)
    assert view.next_resend is not None
    assert view.next_resend > as_text(bench.now)
    bench.receipt(3)
    assert list(streams(bench.state, bench.srmp.state)) == []

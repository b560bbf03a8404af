"""Tests how far a sequence got, as the manager shows it."""

from __future__ import annotations

from reliquary.base.time import seconds
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.travel.link import SequenceInfo
from tests.protocols.wsrm.source.source_bench import SourceBench


def test_the_figures_of_an_outgoing_queue_follow_its_sequence() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c", "d")
    bench.open()
    bench.acknowledge((1, 1), buffer=8)
    bench.acknowledge((1, 2), (4, 4), buffer=8)
    shown = bench.link().transfer
    name = SequenceId(bench.sequence.number, 0)
    assert shown.first_unacknowledged == shown.last_unacknowledged == SequenceInfo(name, 3, 2)
    assert shown.last_acknowledged == SequenceInfo(name, 2, 1)
    assert shown.next_to_send == SequenceInfo(name, 5, 4)
    assert (shown.unacknowledged, shown.acknowledged_count, shown.resend_interval) == (1, 2, 2)
    assert shown.acknowledged_time == bench.now
    assert shown.resend_time == bench.now + seconds(2)


def test_a_queue_that_is_all_there() -> None:
    bench = SourceBench()
    bench.put("a")
    bench.open()
    bench.acknowledge((1, 1), buffer=8)
    shown = bench.link().transfer
    assert shown.first_unacknowledged is None
    assert shown.last_unacknowledged is None
    assert (shown.unacknowledged, shown.resend_time) == (0, 0)

"""Tests streams: verdicts, percentiles, and where findings are counted."""

from __future__ import annotations

from reliquary.spark.pipelines.audit.coverage import TracedQueue
from reliquary.spark.pipelines.audit.rules import RuleRows
from reliquary.spark.pipelines.audit.streams import NOWHERE, READERS, Key, Stream, StreamCounts, seconds_of
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Reason, Verdict

OUT = TracedQueue(1, 10, "a", "alpha", "DIRECT=HTTP://beta/x", "outgoing")
QUEUE = TracedQueue(2, 20, "b", "beta", "x", "local")
OTHER = TracedQueue(3, 20, "b", "beta", "y", "local")


def test_one_fault_refutes_and_what_is_open_is_not_proven() -> None:
    late, recent = {FindingKind.LATE: 1}, {Reason.TOO_RECENT: 1}
    assert Stream(OUT, QUEUE).verdict is Verdict.PROVEN
    assert Stream(OUT, QUEUE, unjudged=recent).verdict is Verdict.NOT_JUDGED
    assert Stream(OUT, QUEUE, found=late, unjudged=recent).verdict is Verdict.REFUTED


def test_percentiles_are_the_bounds_of_classes() -> None:
    stream = Stream(QUEUE, None, times={16: 50, 32: 49, 160: 1})
    assert stream.percentile(0.5) == seconds_of(16)
    assert stream.percentile(0.51) == stream.percentile(0.99) == seconds_of(32)
    assert stream.percentile(1.0) == seconds_of(160)
    assert Stream(QUEUE, None).percentile(0.5) is None


def test_what_arrived_nowhere_belongs_to_the_one_way_of_its_queue() -> None:
    streams: dict[Key, Stream] = {
        (1, 2): Stream(OUT, QUEUE, sent=5, arrived=5),
        (1, NOWHERE): Stream(OUT, QUEUE, sent=2, left=1, waiting=1),
    }
    book = StreamCounts(streams, (OUT, QUEUE, OTHER))
    assert book.stream(RuleRows.PASSAGES, 1, None) is streams[1, 2]
    assert streams.keys() == {(1, 2)}
    assert (streams[1, 2].sent, streams[1, 2].left, streams[1, 2].waiting) == (7, 1, 1)


def test_of_several_ways_none_is_guessed() -> None:
    streams: dict[Key, Stream] = {(1, 2): Stream(OUT, QUEUE), (1, 3): Stream(OUT, OTHER)}
    book = StreamCounts(streams, (OUT, QUEUE, OTHER))
    assert book.stream(RuleRows.TRACES, 1, None).text == "alpha: DIRECT=HTTP://beta/x -> unknown"
    assert book.stream(RuleRows.PLACES_IN_LINE, 1, 3).text == "alpha: DIRECT=HTTP://beta/x -> beta: y"


def test_what_is_found_in_a_queue_belongs_to_its_readers() -> None:
    book = StreamCounts({}, (QUEUE,))
    for over in (RuleRows.TRACES, RuleRows.ARRIVALS, RuleRows.PLACES_IN_LINE):
        assert book.key(over, 2, None) == (2, READERS)
    assert book.stream(RuleRows.TRACES, 2, None).text == "beta: x"

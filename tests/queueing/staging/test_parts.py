"""Tests that the chunks of a batch are grouped by queue, in the order of the parts, and numbered."""

from __future__ import annotations

from reliquary.queueing.model.staging import numbers_of
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.staging.events import CompleteStage
from reliquary.queueing.staging.parts import by_queue, numbered_chunks
from tests.queueing.manager_harness import Bench
from tests.queueing.staging.writing import begin, stage, write


def test_chunks_are_grouped_by_queue_and_get_numbers_without_a_gap() -> None:
    bench = Bench("orders", "other", sizes=Sizes(at_once=2))
    last = write(bench, b"5", b"6", part=1)
    first = begin(bench)
    stage(bench, first, b"1", b"2", b"3")
    stage(bench, first, b"4", queue="other")
    bench.ask(CompleteStage(0, first))
    parts, ends = by_queue(bench.state, (first, last))
    assert [(part.queue.record.pathname.rpartition("\\")[2], part.count) for part in parts] == [
        ("orders", 5),
        ("other", 1),
    ]
    assert [part.size for part in parts] == [sum(map(sum, (c.sizes for c in part.chunks))) for part in parts]
    assert ends.first == parts[0].chunks[0].first
    assert ends.last == numbers_of(parts[0].chunks[-1])[-1]
    chunks = numbered_chunks(parts, 100)
    assert [(numbered.first, len(numbered.chunk.sizes)) for numbered in chunks] == [
        (100, 2),
        (102, 1),
        (103, 2),
        (105, 1),
    ]

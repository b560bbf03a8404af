"""Tests that parts which will never be published are removed, and that the others stay."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model import events
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.staging.events import CompleteStage, DropStages, SweepStages
from tests.queueing.manager_harness import Bench
from tests.queueing.staging.inspection import staged
from tests.queueing.staging.writing import begin, publish, stage, write
from tests.queueing.state_checks import check


def test_a_part_goes_some_messages_a_turn_and_can_be_used_no_more_at_once() -> None:
    bench = Bench(sizes=Sizes(at_once=2))
    number = write(bench, *[b"x"] * 7)
    other = write(bench, *[b"y"] * 3, part=1)
    bench.patient = True
    assert bench.ask(DropStages(0, (number, other, 4711))).status is HResult.OK
    assert publish(bench, number).status is HResult.STAGE_GONE
    assert bench.ask(CompleteStage(0, number)).status is HResult.STAGE_GONE
    left = []
    while bench.pending:
        assert len(bench.pending) == 1
        left.append(len(staged(bench.state)))
        bench.go_on(1)
        check(bench.state)
    assert left == [10, 8, 6, 4, 1]
    assert staged(bench.state) == []
    assert bench.state.staging.stages == {}


def test_a_drop_goes_on_after_a_restart_in_its_middle() -> None:
    bench = Bench(sizes=Sizes(at_once=2))
    number = write(bench, *[b"x"] * 7)
    kept = write(bench, b"kept", part=1)
    bench.patient = True
    bench.ask(DropStages(0, (number,)))
    bench.go_on(2)
    bench.restart()
    assert publish(bench, number, kept).status is HResult.STAGE_GONE
    bench.patient = False
    bench.go_on()
    assert set(bench.state.staging.stages) == {kept}
    check(bench.state)


def test_a_start_drops_what_is_not_complete_and_what_was_published() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", batch=1), batch=1)
    complete, open_ = write(bench, b"b", batch=2), begin(bench, 2, 1)
    stage(bench, open_, b"c")
    again = write(bench, b"a", batch=1)
    bench.flush()
    bench.restart(crash=True)
    assert set(bench.state.staging.stages) == {complete}
    assert stage(bench, open_, b"d").status is HResult.STAGE_GONE
    assert publish(bench, again, batch=1).already
    assert publish(bench, complete, batch=2).messages == 1
    check(bench.state)


def test_a_batch_that_was_published_may_be_written_again_to_its_end() -> None:
    """A driver that died before it noted the batch runs it again; its tasks must not fail for that."""
    bench = Bench()
    publish(bench, write(bench, b"a"))
    again = begin(bench, attempt="again")
    bench.advance(3600)
    assert stage(bench, again, b"a").status is HResult.OK
    assert bench.ask(CompleteStage(0, again)).status is HResult.OK
    assert publish(bench, again).already
    assert bench.bodies() == [b"a"]
    assert bench.state.staging.stages == {}


def test_a_part_that_was_not_touched_for_too_long_goes_complete_or_not() -> None:
    bench = Bench(sizes=Sizes(stage_age=seconds(7200)))
    old, written = write(bench, b"a", part=0), begin(bench, part=1)
    bench.advance(3601)
    young = begin(bench, part=2)
    stage(bench, written, b"b")
    bench.advance(3600)
    assert set(bench.state.staging.stages) == {written, young}
    assert publish(bench, old).status is HResult.STAGE_GONE
    bench.advance(7200)
    assert bench.state.staging.stages == {}
    assert ("stages", 0) not in bench.timers
    check(bench.state)


def test_a_day_is_what_a_part_has_and_the_clock_is_watched_again_after_a_restart() -> None:
    bench = Bench()
    write(bench, b"a")
    bench.advance(20 * 3600)
    bench.restart()
    assert ("stages", 0) in bench.timers
    bench.advance(3 * 3600)
    assert len(bench.state.staging.stages) == 1
    bench.advance(2 * 3600)
    assert bench.state.staging.stages == {}


def test_nothing_is_watched_where_nothing_is_staged() -> None:
    bench = Bench()
    assert ("stages", 0) not in bench.timers
    publish(bench, write(bench, b"a"))
    assert ("stages", 0) in bench.timers
    bench.advance(3601)
    assert ("stages", 0) not in bench.timers


def test_a_manager_that_stops_goes_on_sweeping_and_so_does_the_next_start() -> None:
    bench = Bench(sizes=Sizes(at_once=1))
    number = write(bench, b"a", b"b", b"c")
    bench.patient = True
    bench.ask(DropStages(0, (number,)))
    bench.stop()
    bench.go_on(1)
    assert len(staged(bench.state)) == 2
    bench.start()
    bench.go_on()
    assert bench.state.staging.stages == {}
    check(bench.state)


def test_a_sweep_without_anything_to_sweep_does_nothing() -> None:
    bench = Bench()
    turn = bench.handle(SweepStages())
    assert not turn.facts
    assert not turn.effects


def test_a_purge_leaves_alone_what_is_staged() -> None:
    bench = Bench()
    number = write(bench, b"a")
    bench.ask(events.PurgeQueue(0, "orders"))
    assert publish(bench, number).messages == 1
    assert bench.bodies() == [b"a"]

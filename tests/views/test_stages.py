"""Parts of batches as records."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.queueing.staging.events import DropStages
from reliquary.views import stages
from reliquary.wire.security import parse_sid
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.staging.writing import begin, publish, stage, write

ALICE = Principal(parse_sid("S-1-5-21-1-2-3-1001"), name="alice")
BOB = Principal(parse_sid("S-1-5-21-1-2-3-1002"), name="bob")


def test_a_part_is_shown_with_what_it_holds_and_how_long_nobody_touched_it() -> None:
    bench = Bench("orders", "other")
    number = begin(bench, 3, 1, "first")
    stage(bench, number, b"abc")
    size = stage(bench, number, b"d", queue="other").size
    bench.advance(5)
    assert list(stages.stages(bench.state, bench.now)) == [
        stages.StageView(
            stage=number, query="query", batch=3, part=1, attempt="first", queues=("orders", "other"),
            messages=2, bytes=size, complete=False, begun=NOON, age=5 * SECOND,
        )
    ]  # fmt: skip


def test_what_is_going_or_was_published_is_not_shown() -> None:
    bench = Bench()
    dropped, kept = write(bench, b"a"), write(bench, b"b", batch=1, part=2)
    first = write(bench, b"c", batch=1, part=1)
    bench.patient = True
    bench.ask(DropStages(0, (dropped,)))
    assert [each.stage for each in stages.stages(bench.state, bench.now)] == [first, kept]
    publish(bench, first, kept, batch=1)
    assert list(stages.stages(bench.state, bench.now)) == []


def test_everybody_sees_his_own() -> None:
    bench = Bench()
    bench.state.access.first_list = MANAGER_LIST
    begin(bench, by=ALICE)
    for by, shown in ((ALICE, 1), (BOB, 0), (MANAGER, 1)):
        assert len(list(stages.stages(bench.state, bench.now, by))) == shown

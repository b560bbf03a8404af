"""Work is left to the end of a turn, once."""

from __future__ import annotations

from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source.posts_due import PostsDue, schedule_posts
from reliquary.protocols.wsrm.state import State
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from tests.protocols.wsrm.source.source_bench import SourceBench


def test_a_turn_looks_once_at_all_queues() -> None:
    state = State(StagedRows(MemoryDisk(())), WsrmSettings())
    for queue in (3, 4, 3):
        schedule_posts(state, queue)
    assert state.draft.take().signals == (PostsDue(),)
    assert list(state.source.queues_due) == [3, 4]


def test_what_is_handed_out_in_one_turn_is_numbered_in_one_fact() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c", "d")
    bench.open()
    bench.acknowledge((1, 1), buffer=8)
    [fact] = [fact for fact in bench.turns[-1].facts if type(fact).__name__ == "MessagesNumbered"]
    assert len(fact.lookup_ids) == 3  # type: ignore[attr-defined]
    assert bench.numbers == [2, 3, 4]

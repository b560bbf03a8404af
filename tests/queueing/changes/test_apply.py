"""Tests that a fact is noted for the history, changes the state and is stated in the turn."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.base.turn import Fact
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.features import APPLIERS
from reliquary.queueing.feed.facts import ConsumerDropped, ConsumerPlaced, RetainedDropped
from reliquary.queueing.model import facts
from reliquary.queueing.staging.apply import APPLIERS as APPLY_STAGING
from tests.queueing.fact_bench import FactBench
from tests.queueing.history.batches import told
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import walk


def test_the_history_notes_a_fact_before_the_fact_changes_the_state() -> None:
    """A count that grew is a hand-out: after the change nothing would differ."""
    bench = Bench(history=True)
    bench.send("orders", b"a")
    queue = bench.queue()
    [position] = walk(queue)
    queue.order.lock(position.lookup_id)
    handed_out = msgspec.structs.replace(position, handed_out=1)
    apply(bench.state, facts.PositionsMarked(queue.number, (handed_out,)))
    assert [event["event"] for event in told(bench)] == ["accepted", "handed-out"]
    assert queue.order.locked == {position.lookup_id: handed_out}


def test_without_a_history_nothing_is_written() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    assert told(bench) == []


def test_a_fact_without_an_applier_stops_the_machine(made: FactBench) -> None:
    class Unknown(Fact, frozen=True):
        """A fact that no module declares."""

    with pytest.raises(KeyError):
        apply(made.state, Unknown())
    assert made.state.draft.take().facts == ()


FEEDS = {ConsumerPlaced, ConsumerDropped, RetainedDropped}
"""Their tests are in tests/queueing/feed."""


def test_every_fact_has_its_line_here() -> None:
    """A fact that is added later needs a test in the mirror file of its module, and a line here."""
    shown = {
        facts.ManagerNamed, facts.QueueCreated, facts.QueueChanged, facts.QueueDeleted,
        facts.MessagesStored, facts.PositionCopied, facts.PositionMoved, facts.PositionsRemoved,
        facts.TransactionPrepared, facts.TransactionEnded, facts.PreparedMessageDropped,
        facts.PositionsMarked, facts.PositionsDelayed, facts.PositionsDue,
        facts.PieceKept, facts.SpoolsDropped, facts.HoldBegun, facts.HoldsOver,
        facts.CopyLost, facts.DirectoryObjectWritten, facts.DirectoryObjectRemoved, facts.OutcomesForgotten,
    }  # fmt: skip
    assert APPLIERS.keys() - FEEDS - APPLY_STAGING.keys() == shown

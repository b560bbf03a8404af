"""Tests that a fact is noted for the history, changes the state and is stated in the turn."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.base.turn import Fact
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.features import APPLIERS
from reliquary.queueing.feed.apply import APPLIERS as APPLY_FEEDS
from reliquary.queueing.model import facts
from reliquary.queueing.staging.apply import APPLIERS as APPLY_STAGING
from tests.queueing.fact_bench import FactBench
from tests.queueing.history.batches import reported
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import walk


def test_the_history_notes_a_fact_before_the_fact_changes_the_state() -> None:
    """A count of aborts that grew is a return: after the change nothing would differ."""
    bench = Bench(history=True)
    bench.send("orders", b"a")
    queue = bench.queue()
    [position] = walk(queue)
    queue.order.lock(position.lookup_id)
    returned = msgspec.structs.replace(position, aborted=1)
    apply(bench.state, facts.PositionsMarked(queue.number, (returned,)))
    assert [event["event"] for event in reported(bench)] == ["accepted", "returned"]
    assert queue.order.locked == {position.lookup_id: returned}


def test_without_a_history_nothing_is_written() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    assert reported(bench) == []


def test_a_fact_without_an_applier_stops_the_machine(made: FactBench) -> None:
    class Unknown(Fact, frozen=True):
        """A fact that no module declares."""

    with pytest.raises(KeyError):
        apply(made.state, Unknown())
    assert made.state.draft.take().facts == ()


def test_every_fact_has_its_line_here() -> None:
    """A fact that is added later needs a test in the mirror file of its module, and a line here.

    The tests of the facts of feeds and of staging are with these features.
    """
    shown = {
        facts.ManagerNamed, facts.QueueCreated, facts.QueueChanged, facts.QueueDeleted,
        facts.MessagesStored, facts.PositionCopied, facts.PositionMoved, facts.PositionsRemoved,
        facts.TransactionPrepared, facts.TransactionEnded, facts.PreparedMessageDropped,
        facts.PositionsHandedOut, facts.PositionsMarked, facts.PositionsDelayed, facts.PositionsDue,
        facts.PieceKept, facts.SpoolsDropped, facts.ReservationBegun, facts.ReservationsOver,
        facts.CopyLost, facts.DirectoryObjectWritten, facts.DirectoryObjectRemoved, facts.OutcomesForgotten,
    }  # fmt: skip
    assert APPLIERS.keys() - APPLY_FEEDS.keys() - APPLY_STAGING.keys() == shown

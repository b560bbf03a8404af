"""Tests that facts about the manager and its queues change memory and rows alike."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.counters import settle
from reliquary.queueing.model import facts
from reliquary.queueing.model.tables import COUNTERS, MANAGER, ONLY, QUEUES, queue_key
from tests.queueing.fact_bench import REASON, FactBench
from tests.queueing.state_checks import every


def test_a_created_queue_is_there_under_its_name(made: FactBench) -> None:
    record = msgspec.structs.replace(
        made.orders.record, number=99, pathname="BENCH\\private$\\new", journal=None
    )
    made.apply(facts.QueueCreated(record))
    assert made.bench.queue("new").record == record
    assert every(made.state, QUEUES)[queue_key(99)] == record
    assert made.state.numbers.next_queue() == 100


def test_a_changed_queue_has_its_new_attributes(made: FactBench) -> None:
    record = msgspec.structs.replace(made.orders.record, modify_time=5)
    made.apply(facts.QueueChanged(record))
    assert made.bench.queue("orders").record == record
    assert every(made.state, QUEUES)[queue_key(record.number)] == record


def test_the_name_of_a_queue_under_deletion_is_free(made: FactBench) -> None:
    made.apply(facts.QueueChanged(msgspec.structs.replace(made.orders.record, deleting=True)))
    assert made.state.find(made.state.parse("orders")) is None
    assert made.orders.number in made.state.queues
    assert made.bench.create("orders").queue.number != made.orders.number


def test_a_deleted_queue_leaves_neither_row_nor_counters(made: FactBench) -> None:
    made.store(made.at(1))
    settle(made.state)
    made.apply(facts.PositionsRemoved(made.orders.number, (made.at(1),), REASON))
    made.apply(facts.QueueDeleted(made.orders.number))
    settle(made.state)
    key = queue_key(made.orders.number)
    assert key not in every(made.state, QUEUES)
    assert key not in every(made.state, COUNTERS)
    assert made.state.find(made.state.parse("orders")) is None


def test_a_queue_that_holds_messages_cannot_be_deleted(made: FactBench) -> None:
    made.store(made.at(1))
    with pytest.raises(AssertionError, match="still holds 1 messages"):
        apply(made.state, facts.QueueDeleted(made.orders.number))


def test_the_manager_is_who_was_named_last(made: FactBench) -> None:
    record = msgspec.structs.replace(made.state.identity(), quota=5)
    made.apply(facts.ManagerNamed(record))
    assert made.state.identity() == record
    assert every(made.state, MANAGER)[ONLY] == record

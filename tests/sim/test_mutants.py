"""The checkers detect a system that is broken on purpose, within a few seeds."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

import msgspec
import pytest

from reliquary.base.turn import Reply
from reliquary.engine.core import Batch
from reliquary.queueing import manager
from reliquary.queueing.changes import counters as changed_counters
from reliquary.queueing.changes import positions as changed_positions
from reliquary.queueing.feed import consumers, limits, rules, trimming
from reliquary.queueing.feed.facts import ConsumerPlaced
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.order import Order
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import COUNTERS, Consumer, Counters
from reliquary.queueing.rules import destinations, poison, read, transactions
from reliquary.queueing.rules import leave as leave_module
from reliquary.queueing.rules.enqueue import Enqueued
from reliquary.queueing.rules.news import send_news
from reliquary.queueing.travel import arrivals, dispatch
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.process import Process
from reliquary.sim.run import simulate
from reliquary.sim.witness import Witness
from tests.sim.seeds import find_failure

SEEDS = range(1, 41)


def first_failure(
    *, seeds: range = SEEDS, process: type[Process] = Process, disk: type[SimulatedDisk] = SimulatedDisk
) -> str:
    """Return what the checkers say about the first seed in which they find something."""
    return find_failure(partial(simulate, process=process, disk=disk), seeds)


# -- the engine


class Hasty(Process):
    """Performs effects before the disk has their facts."""

    def _settle(self, batch: Batch) -> None:
        self._perform(batch.after_sync)
        batch.after_sync = []
        super()._settle(batch)


class Eager(Process):
    """Counts a sync for batches that were applied after it began."""

    def _synced(self, covered: int) -> None:
        self._syncs.syncing += self._syncs.waiting
        self._syncs.waiting = []
        super()._synced(covered)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the checks of leaving messages: a mutant must be found by its consequences."""

    def answered(self: Witness, process_number: int, reply: Reply, disk: SimulatedDisk) -> int:
        return self._answers[process_number, reply.to][0]

    monkeypatch.setattr(Witness, "answered", answered)


@pytest.mark.parametrize("process", [Hasty, Eager])
def test_effects_that_leave_before_their_sync_are_found(process: type[Process]) -> None:
    assert first_failure(process=process).startswith("visible too early")


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize("process", [Hasty, Eager])
def test_effects_that_leave_before_their_sync_are_found_by_what_they_lead_to(process: type[Process]) -> None:
    failure = first_failure(process=process)
    assert failure.startswith(("loss", "duplication", "left behind", "feed")), failure


# -- the disk


class Forgetful(SimulatedDisk):
    """Confirms every sync, and keeps one batch less."""

    def end_sync(self, covered: int) -> None:
        dropped = self.durable == 40 and covered > self.durable
        if dropped:
            del self._unsynced[0]
            self.durable += 1
        super().end_sync(covered)


def test_a_disk_that_drops_a_synced_batch_is_found() -> None:
    first_failure(disk=Forgetful)


# -- the manager


def test_a_lock_that_is_forgotten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lock(self: Order, lookup_id: int) -> Position:
        position = self.get(lookup_id)
        assert position is not None
        return position

    monkeypatch.setattr(Order, "lock", lock)
    first_failure()


def test_a_receive_that_leaves_the_message_there_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = leave_module.leave, count()

    def leave(state: State, queue: QueueState, positions: Any, reason: Any) -> None:
        held = any(each.lookup_id in queue.order.locked for each in positions)
        if held or next(calls) % 7:  # no number of the state's: they stand still while queues are drained
            real(state, queue, positions, reason)

    monkeypatch.setattr(read, "leave", leave)
    failure = first_failure()
    assert failure.startswith("duplication"), failure


def test_a_receive_that_is_applied_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = changed_positions._weigh

    def weigh(state: State, queue: QueueState, positions: Any, sign: int) -> int:
        if sign < 0 and state.numbers.sequence % 7 == 0:
            real(state, queue, positions, sign)
        return real(state, queue, positions, sign)

    monkeypatch.setattr(changed_positions, "_weigh", weigh)
    first_failure()


def test_counters_that_are_off_by_one_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = changed_counters.settle

    def settle(state: State) -> None:
        real(state)
        for key, counters in state.rows.range(COUNTERS, b"", b"\xff", limit=1):
            wrong = Counters(counters.count + 1, counters.size, counters.floors)
            if state.numbers.sequence > 60:
                state.rows.put(COUNTERS, key, wrong)

    monkeypatch.setattr(manager, "settle", settle)
    failure = first_failure()
    assert failure.startswith("counters"), failure


def test_messages_that_come_out_in_the_wrong_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Order.some

    def some(self: Order, after: int, limit: int) -> list[Position]:
        found = real(self, after, limit + 1)
        return (found[1:2] + found[:1] + found[2:])[:limit]

    monkeypatch.setattr(Order, "some", some)
    failure = first_failure()
    assert failure.startswith("order"), failure


def test_a_message_that_arrives_and_is_sent_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = leave_module.leave

    def leave(state: State, queue: QueueState, positions: Any, reason: Any, **more: Any) -> None:
        if reason is not MessageClass.ACK_REACH_QUEUE or state.numbers.sequence % 7:
            real(state, queue, positions, reason, **more)

    monkeypatch.setattr(dispatch, "leave", leave)
    failure = first_failure()
    assert failure.startswith("duplication"), failure


def test_a_message_that_is_taken_for_delivered_and_never_arrived_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose(
        state: State, queue: QueueState, messages: Any, *_: Any, **__: Any
    ) -> tuple[Enqueued, list[int]]:
        return Enqueued.DONE, [0]

    monkeypatch.setattr(arrivals, "enqueue", lose)
    failure = first_failure()
    assert failure.startswith("loss"), failure


def test_a_reader_who_is_not_woken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "wake", lambda *_: None)
    assert first_failure().startswith("liveness")


# -- cursors


def test_a_cursor_that_forgets_its_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = read._ahead

    def ahead(state: State, queue: QueueState, place: int, now: Any, *, peek: bool) -> Any:
        return real(state, queue, -1, now, peek=peek)

    def browse(state: State, request: Any, now: Any) -> None:
        """Browse a queue with working code; it uses the seek of cursors."""
        queue, place = destinations.find(state, request.queue), request.after
        found: list[Position] = []
        while queue and len(found) < request.limit and (seen := real(state, queue, place, now, peek=True)):
            found.append(seen)
            place = seen.lookup_id
        read.show(state, request.to, found)

    monkeypatch.setattr(read, "_ahead", ahead)
    monkeypatch.setattr(read, "browse", browse)
    failure = first_failure()
    assert failure.startswith("cursor"), failure


def test_a_message_that_is_put_aside_too_soon_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = poison.is_poison

    def is_poison(queue: QueueState, position: Position) -> bool:
        more = msgspec.structs.replace(position, handed_out=position.handed_out + 1)
        return position.handed_out > 0 and real(queue, more)

    monkeypatch.setattr(poison, "is_poison", is_poison)
    failure = first_failure()
    assert "NACK_RECEIVE_REJECTED" in failure, failure


def test_a_message_that_is_handed_out_too_often_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (poison, read):
        monkeypatch.setattr(module, "is_poison", lambda *_: False)
    failure = first_failure()
    assert failure.startswith("poison"), failure


def test_a_dead_letter_that_keeps_its_counters_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = leave_module._copy

    def copy(position: Position, *more: Any) -> Position:
        return msgspec.structs.replace(
            real(position, *more), handed_out=position.handed_out, aborted=position.aborted
        )

    monkeypatch.setattr(leave_module, "_copy", copy)
    failure = first_failure(seeds=range(400, 420))
    assert "NACK_RECEIVE_REJECTED" in failure, failure


# -- transactions that another coordinator decides


def test_an_outcome_that_is_forgotten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = transactions.stage

    def stage(state: State, identifier: Any) -> transactions.TransactionState:
        found = real(state, identifier)
        return (
            transactions.TransactionState.UNKNOWN
            if found is transactions.TransactionState.COMMITTED
            else found
        )

    monkeypatch.setattr(transactions, "stage", stage)
    failure = first_failure()
    assert "this was refused" in failure, failure


def test_a_transaction_that_gets_both_outcomes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    both = {(transactions.TransactionState.COMMITTED, transactions.TransactionEvent.ABORT): True}
    monkeypatch.setattr(transactions, "ALLOWED", {**transactions.ALLOWED, **both})
    failure = first_failure()
    assert "the opposite was confirmed" in failure, failure


def test_a_prepared_transaction_that_does_not_survive_a_crash_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = transactions.prepare

    def prepare(state: State, transaction: Any, now: Any, *, single_phase: bool) -> None:
        real(state, transaction, now, single_phase=single_phase or transaction.external)

    monkeypatch.setattr(transactions, "prepare", prepare)
    failure = first_failure()
    assert failure.startswith("outcome"), failure


# -- feeds


def test_a_late_message_under_its_old_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changed_positions, "number", lambda state, queue, positions, moved: positions)
    failure = first_failure()
    assert failure.startswith("feed"), failure


def test_a_retry_that_forgets_its_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changed_positions, "keep_numbers", lambda state, queue, positions: positions)
    failure = first_failure()
    assert failure.startswith("feed"), failure


def test_a_message_that_is_released_before_all_have_read_it_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = trimming.trim_some

    def trim_some(state: State, queue: QueueState) -> bool:
        lowest, queue.feed.pinned = queue.feed.pinned, queue.feed.mark
        more = real(state, queue)
        queue.feed.pinned = lowest
        return more

    monkeypatch.setattr(trimming, "trim_some", trim_some)
    failure = first_failure()
    assert failure.startswith("feed"), failure


def test_a_mark_that_is_reported_too_high_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_mark(state: State, queue: QueueState) -> int:
        queue.feed.mark = queue.feed.mark and state.numbers.sequence + 3
        return queue.feed.mark or state.numbers.sequence

    monkeypatch.setattr(rules, "raise_mark", raise_mark)
    first_failure()


@pytest.mark.parametrize("limit", [Keep(count=1), Keep(bytes=1), Keep(age=1)])
def test_a_consumer_that_loses_what_is_within_its_limit_is_found(
    monkeypatch: pytest.MonkeyPatch, limit: Keep
) -> None:

    def limit_of(state: State, queue: QueueState, record: Consumer) -> Keep:
        given = consumers.limit_of(state, queue, record)
        return Keep(*map(min, msgspec.structs.astuple(given), msgspec.structs.astuple(limit)))

    monkeypatch.setattr(limits, "limit_of", limit_of)
    failure = first_failure()
    assert "within its limit" in failure, failure


def test_a_loss_that_is_not_reported_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ConsumerLost", ConsumerPlaced)
    failure = first_failure()
    assert "was moved without a loss" in failure, failure


# -- acknowledgements


def test_an_acknowledgement_that_is_never_sent_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose_news(state: State, now: Any) -> None:
        if any(each.reason is MessageClass.ACK_RECEIVE for each in state.turn.owed):
            state.turn.owed = []
        send_news(state, now)

    monkeypatch.setattr(manager, "send_news", lose_news)
    failure = first_failure()
    assert failure.startswith("news: these were never acknowledged"), failure


def test_an_acknowledgement_that_is_not_true_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = leave_module._owe

    def owe(state: State, queue: QueueState, position: Position, reason: MessageClass) -> None:
        real(state, queue, position, MessageClass.ACK_RECEIVE if reason.is_failure else reason)

    monkeypatch.setattr(leave_module, "_owe", owe)
    failure = first_failure()
    assert failure.startswith("news"), failure

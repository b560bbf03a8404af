"""A new process over the disk of a manager has the state that the old process had."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import StoreDamage
from reliquary.base.hresult import HResult
from reliquary.base.rows import Record, Table
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model import events
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import (
    ATTRIBUTES,
    INLINE_SIZE,
    Acknowledgement,
    Delivery,
    MessageClass,
    ObjectId,
)
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import (
    COUNTERS,
    MESSAGES,
    PAST_THE_END,
    POSITIONS,
    QUEUES,
    SEQUENCE_MASK,
    TABLES,
    message_key,
)
from reliquary.store import Changes
from reliquary.store.staging import StagedRows
from tests.queueing.manager_harness import Bench, message
from tests.queueing.random_runs import TINY, try_seeds
from tests.queueing.state_checks import check, durable, every, walk

CLAIMS = pytest.mark.spec("DM-002", "DM-004", "DM-005", "DM-018", "DM-040", "DM-047", "DM-064", "DM-065")


@CLAIMS
@pytest.mark.parametrize("first", range(0, 800, 100))
def test_a_new_process_knows_what_the_old_one_knew(first: int) -> None:
    try_seeds(range(first, first + 100))


@CLAIMS
@pytest.mark.long
@pytest.mark.parametrize("first", range(1_000, 11_000, 250))
def test_a_new_process_knows_what_the_old_one_knew_in_every_random_run(first: int) -> None:
    try_seeds(range(first, first + 250))


# -- by example


@pytest.mark.spec("DM-002", "DM-047", "DM-018")
def test_a_recoverable_message_is_there_again_with_every_attribute() -> None:
    bench = Bench()
    sent = message(
        b"body",
        label="a label",
        priority=6,
        extension=b"more",
        application_tag=7,
        correlation=ObjectId(UUID(int=9), 3),
        acknowledgements=(Acknowledgement.FULL_RECEIVE,),
        response_queue="DIRECT=OS:.\\private$\\answers",
        time_to_be_received=1000,
        soap_header="<h/>",
    )
    bench.ask(events.SendMessages(0, "orders", (sent,)))
    before = bench.state.numbers.sequence
    [position] = walk(bench.queue())
    stored = bench.state.messages.get(position)
    bench.restart()
    assert walk(bench.queue()) == [position]
    assert bench.state.messages.get(position) == stored
    changed = {"identifier", "source_machine", "sent_time"}
    assert {name: getattr(stored, name) for name in ATTRIBUTES if name not in changed} == {
        name: getattr(sent, name) for name in ATTRIBUTES if name not in changed
    }
    assert bench.send("orders", b"next").lookup_ids[0] & SEQUENCE_MASK > before


@pytest.mark.spec("DM-004", "DM-046")
def test_an_express_message_is_forgotten_and_its_bytes_with_it() -> None:
    bench = Bench()
    bench.send("orders", b"kept")
    kept = bench.queue().total_bytes
    bench.send("orders", b"forgotten", delivery=Delivery.EXPRESS)
    bench.restart()
    assert bench.bodies() == [b"kept"]
    assert bench.queue().total_bytes == kept == bench.state.totals.bytes


@pytest.mark.spec("DM-004")
def test_handles_cursors_waits_and_holds_are_forgotten() -> None:
    bench = Bench()
    handle = bench.ask(events.OpenQueue(0, "orders", events.Access.RECEIVE)).handle
    bench.ask(events.OpenCursor(0, handle))
    bench.receive("orders", timeout=None)
    bench.send("orders", b"for the waiter", b"a", b"b")
    bench.receive("orders", hold=100)
    bench.restart()
    assert bench.bodies() == [b"a", b"b"]
    assert not bench.state.open.handles
    assert not bench.state.open.cursors
    assert not bench.queue().active


def test_a_manager_over_an_empty_disk_has_no_name_and_no_queues() -> None:
    bench = Bench(start=False)
    assert bench.state.manager.record is None
    assert bench.state.queues == {}


@pytest.mark.parametrize("left", [QUEUES, COUNTERS, POSITIONS, MESSAGES], ids=lambda table: table.name)
def test_a_store_that_lost_its_manager_and_has_rows_is_damage(left: Table[Any]) -> None:
    bench = Bench()
    bench.send("orders", b"a", b"b" * INLINE_SIZE)  # the second message has a row of its own
    bench.flush()
    for table in TABLES:
        if table != left.name:
            bench.disk.apply(Changes(ranges=[(table, b"", PAST_THE_END)]))
    bench.disk.sync()
    with pytest.raises(StoreDamage, match=f"there are rows in {left.name}, but none says whose they are"):
        bench.restart(crash=True)


@pytest.mark.spec("DM-005")
def test_the_manager_and_its_queues_keep_their_identifiers() -> None:
    bench = Bench("orders", "orders;retry", ".\\offers")
    before = durable(bench.state)
    for _ in range(3):
        bench.restart()
        assert durable(bench.state).queues == before.queues
        assert bench.state.manager.record == before.manager


@pytest.mark.spec("DM-005", "DM-141")
def test_the_number_of_a_new_queue_is_no_other_queues_even_after_a_restart() -> None:
    """The number of a deleted queue is not used again either: a dead letter may still name it."""
    bench = Bench("one", "two")
    highest = max(bench.state.queues)
    bench.ask(events.DeleteQueue(0, "two"))
    bench.restart()
    made = bench.create("three").queue
    assert made.number > highest


@pytest.mark.spec("DM-018", "DM-190")
def test_no_number_is_given_out_twice_whenever_the_process_ends() -> None:
    bench = Bench(sizes=Sizes(sequence_block=8))
    given_out: list[int] = []
    for round_ in range(40):
        sent = bench.send("orders", *[b"x"] * (round_ % 7 + 1))
        given_out += [lookup_id & SEQUENCE_MASK for lookup_id in sent.lookup_ids]
        bench.flush()
        if round_ % 3 == 0:
            bench.restart(crash=True)
        elif round_ % 3 == 1:
            bench.stop()
            bench.restart()
    assert len(given_out) == len(set(given_out))
    assert given_out == sorted(given_out)


@pytest.mark.spec("DM-190")
def test_an_orderly_stop_gives_back_the_numbers_that_were_only_reserved() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    last = bench.state.numbers.sequence
    bench.stop()
    bench.restart()
    assert bench.state.numbers.sequence == last


@pytest.mark.spec("DM-064", "DM-065", "DM-097")
def test_a_prepared_transaction_waits_for_its_outcome_across_a_restart() -> None:
    bench = Bench("orders", "done")
    bench.send("orders", b"received", b"moved")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    moved = walk(bench.queue())[0].lookup_id
    bench.ask(events.MoveMessage(0, "orders", moved, "done", transaction))
    bench.send("done", b"sent", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.restart()
    assert bench.bodies("orders") == bench.bodies("done") == []
    assert bench.queue("done").counts.reserved > 0
    bench.ask(events.CommitTransaction(0, transaction))
    assert bench.bodies("orders") == []
    assert sorted(bench.bodies("done")) == [b"moved", b"sent"]
    assert bench.queue("done").counts.reserved == 0
    check(bench.state)


@pytest.mark.spec("DM-097", "DM-114", "DM-115")
def test_a_prepared_transaction_that_decides_alone_is_aborted_at_the_start() -> None:
    bench = Bench()
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"sent", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=True))
    bench.restart()
    assert bench.bodies() == [b"received"]
    assert bench.state.transactions.open == {}
    check(bench.state)


@pytest.mark.spec("DM-115")
def test_nothing_is_left_of_a_transaction_that_was_not_prepared() -> None:
    bench = Bench()
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"sent", transaction=transaction)
    bench.restart()
    assert bench.bodies() == [b"received"]
    check(bench.state)


@pytest.mark.spec("DM-040", "DM-113", "DM-184")
@pytest.mark.parametrize("first", [events.PrepareTransaction, events.PurgeQueue])
@pytest.mark.parametrize("committed", [True, False])
def test_what_was_purged_while_a_prepared_transaction_had_it_does_not_come_back(
    committed: bool, first: type
) -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    steps = [
        events.PrepareTransaction(0, transaction, single_phase=False),
        events.PurgeQueue(0, "orders"),
    ]
    for step in sorted(steps, key=lambda step: type(step) is not first):
        bench.ask(step)
    bench.restart()
    decide = events.CommitTransaction if committed else events.AbortTransaction
    bench.ask(decide(0, transaction))
    assert bench.bodies() == []
    reason = MessageClass.ACK_RECEIVE if committed else MessageClass.NACK_QUEUE_PURGED
    assert [each.reason for each in bench.signals if isinstance(each, PositionDeleted)] == [reason]
    check(bench.state)


@pytest.mark.spec("DM-305")
def test_what_a_prepared_transaction_received_can_still_be_peeked_at_if_it_allows_it() -> None:
    bench = Bench()
    bench.send("orders", b"open", allow_peek_when_locked=True)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"not yet", allow_peek_when_locked=True, transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.restart()
    shown = bench.ask(events.BrowseMessages(0, "orders")).messages
    assert [each.message.body for each in shown] == [b"open"]


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("again", [True, False])
@pytest.mark.spec("DM-108", "DM-115", "DM-154")
def test_a_prepared_transaction_survives_the_queue_it_worked_on(again: bool, committed: bool) -> None:
    bench = Bench("other", "orders")
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.send("orders", b"wanted", transaction=transaction, negative_journaling=True)
    bench.send("orders", b"unwanted", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.ask(events.DeleteQueue(0, "orders"))
    check(bench.state)
    if again:
        bench.restart()
        check(bench.state)
        bench.create("a new one")
    decide = events.CommitTransaction if committed else events.AbortTransaction
    assert bench.ask(decide(0, transaction)).status is HResult.OK
    check(bench.state)
    assert bench.bodies("system$;deadxact") == ([b"wanted"] if committed else [])
    if again:
        assert bench.bodies("a new one") == []


@pytest.mark.spec("DM-154", "DM-156")
def test_a_delete_that_was_under_way_goes_on_after_a_restart() -> None:
    bench = Bench("orders", sizes=TINY)
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    bench.send("orders", *[b"x"] * 9)
    bench.patient = True
    bench.ask(events.DeleteQueue(0, "orders"))
    bench.go_on(2)
    bench.restart()
    assert bench.create("orders").status is HResult.OK
    bench.patient = False
    bench.go_on()
    assert [queue for queue in bench.state.queues.values() if queue.record.deleting] == []
    assert bench.bodies() == []
    check(bench.state)


@pytest.mark.spec("DM-109", "DM-154")
def test_a_restart_in_the_middle_of_a_delete_that_took_a_prepared_message() -> None:
    bench = Bench("orders", sizes=TINY)
    bench.send("orders", *[b"x"] * 9)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.patient = True
    bench.ask(events.DeleteQueue(0, "orders"))
    bench.go_on(1)
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live
    check(bench.state)
    bench.patient = False
    bench.start()
    assert bench.ask(events.CommitTransaction(0, transaction)).status is HResult.OK
    assert every(bench.state, POSITIONS) == {}
    check(bench.state)


@pytest.mark.spec("DM-109", "DM-154")
def test_a_commit_finds_the_journal_of_a_queue_under_deletion_gone() -> None:
    bench = Bench("orders", sizes=TINY)
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    bench.send("orders", b"received")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.patient = True
    bench.ask(events.DeleteQueue(0, "orders"))
    bench.restart()
    bench.go_on(1)
    assert bench.ask(events.CommitTransaction(0, transaction)).status is HResult.OK
    bench.go_on()
    check(bench.state)


@pytest.mark.spec("DM-077", "DM-081")
def test_a_message_expires_at_its_time_whether_or_not_there_was_a_restart() -> None:
    bench = Bench()
    bench.send("orders", b"short", time_to_be_received=10)
    bench.send("orders", b"long", time_to_be_received=1000)
    bench.advance(5)
    bench.restart()
    bench.advance(5)
    assert bench.bodies() == [b"long"]
    bench.advance(1000)
    assert bench.bodies() == []


@pytest.mark.spec("DM-077", "DM-081")
def test_a_message_that_was_held_when_its_time_ran_out_expires_after_a_restart() -> None:
    bench = Bench()
    bench.send("orders", b"held", time_to_be_received=10, negative_journaling=True)
    bench.receive("orders", hold=1000)
    bench.advance(20)
    bench.send("orders", b"later", time_to_be_received=100)
    bench.restart()
    bench.advance(1)
    assert bench.bodies() == [b"later"]
    assert bench.bodies("system$;deadletter") == [b"held"]
    check(bench.state)


def test_a_message_without_its_row_is_damage_and_is_named() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    transaction = bench.begin()
    bench.send("orders", b"b", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    number = bench.state.transactions.open[transaction].operations[0].position.message
    bench.rows.delete(MESSAGES, message_key(number))
    with pytest.raises(StoreDamage, match=f"message {number} was prepared and has no row"):
        bench.restart()


def test_opening_reads_no_message_however_many_there_are() -> None:
    bench = Bench()
    for _ in range(20):
        bench.send("orders", *[b"x"] * 100)
    asked: Counter[str] = Counter()
    bench.flush()

    class Watched(StagedRows):
        def get(self, table: Table[Record], key: bytes) -> Record | None:
            asked[table.name] += 1
            return super().get(table, key)

        def range(
            self, table: Table[Record], first: bytes, last: bytes, *, limit: int, reverse: bool = False
        ) -> list[tuple[bytes, Record]]:
            asked[table.name] += 1
            return super().range(table, first, last, limit=limit, reverse=reverse)

    manager = QueueManager(Watched(bench.disk), bench.chance)
    assert asked[MESSAGES.name] == asked[POSITIONS.name] == 0
    assert sum(map(len, (queue.order for queue in manager.state.queues.values()))) == 2000

"""Tests Delete Queue, [MS-MQDMPR] 3.1.7.1.4: the name is free at once, the messages go turn by turn."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import (
    AbortTransaction,
    Access,
    BrowseMessages,
    ChangeQueue,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    EndRead,
    MoveMessage,
    OpenQueue,
    PrepareTransaction,
    PurgeQueue,
)
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import Delivery, MessageClass
from reliquary.queueing.model.tables import COUNTERS, EXPIRY, MESSAGES, POSITIONS, QUEUES
from tests.queueing.answers import bodies, everything
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, every

SYSTEM = 5


def reasons(bench: Bench) -> list[MessageClass]:
    return [signal.reason for signal in bench.signals if isinstance(signal, PositionDeleted)]


@pytest.mark.spec("DM-154", "DM-155", "DM-156", "DM-158")
def test_a_deleted_queue_takes_all_its_messages_along() -> None:
    """The messages are available, locked in a transaction, locked by a receipt, and express (T15)."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"locked", b"held", b"m3", time_to_be_received=60)
    bench.send("orders", b"express", delivery=Delivery.EXPRESS)
    handles = [bench.ask(OpenQueue(0, "orders", access)).handle for access in (Access.RECEIVE, Access.SEND)]
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.receive(handles[0], hold=60)
    answer = bench.ask(DeleteQueue(0, "orders"))
    assert answer.status is HResult.OK
    assert reasons(bench) == [MessageClass.NACK_QUEUE_DELETED] * 4
    assert bench.state.find(bench.state.parse("orders")) is None
    assert all(bench.state.open.handles[handle].queue is None for handle in handles)
    assert len(bench.state.queues) == SYSTEM
    assert bench.state.totals.bytes == 0
    assert not every(bench.state, POSITIONS)
    assert not every(bench.state, MESSAGES)
    assert not every(bench.state, EXPIRY)
    assert len(every(bench.state, QUEUES)) == SYSTEM
    bench.advance(120)
    assert bench.ask(CommitTransaction(0, transaction)).status is HResult.TRANSACTION_SEQUENCE
    check(bench.state)
    bench.restart()
    assert len(bench.state.queues) == SYSTEM
    assert len(every(bench.state, COUNTERS)) <= SYSTEM
    check(bench.state)


def test_a_receipt_does_not_survive_its_queue() -> None:
    bench = Bench()
    bench.send("orders", b"held")
    receipt = bench.receive("orders", hold=60).receipt
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.ask(EndRead(0, receipt, delete=False)).status is HResult.INVALID_HANDLE
    assert not bench.state.open.handles


@pytest.mark.spec("DM-050")
def test_messages_of_a_deleted_queue_go_to_the_dead_letter_queue_where_they_asked_for_that() -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"kept", negative_journaling=True)
    bench.send("orders", b"gone")
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.bodies("system$;deadletter") == [b"kept"]
    check(bench.state)


def test_the_journal_and_the_subqueues_go_along() -> None:
    """AN-23: deleting a queue ends its waits and deletes its journal and subqueues."""
    bench = Bench("other")
    bench.create("orders", journaling=True)
    bench.create("orders;s")
    bench.send("orders", b"a", b"b", b"c")
    bench.send("orders;s", b"d")
    bench.receive("orders")
    assert bench.ask(DeleteQueue(0, "orders")).count == 2
    assert len(bench.state.queues) == SYSTEM + 2
    for path in ("orders", "orders;s", "orders;journal"):
        assert bench.state.find(bench.state.parse(path)) is None
    check(bench.state)
    bench.restart()
    assert len(bench.state.queues) == SYSTEM + 2
    check(bench.state)


def test_a_subqueue_can_be_deleted_alone() -> None:
    bench = Bench("orders", "orders;s", "orders;t")
    bench.send("orders", b"a")
    bench.send("orders;s", b"b")
    bench.ask(DeleteQueue(0, "orders;s"))
    assert bench.queue("orders").subqueues == {bench.queue("orders;t").number}
    assert bench.bodies("orders") == [b"a"]
    assert bench.create("orders;s").status is HResult.OK
    assert bench.bodies("orders;s") == []


@pytest.mark.parametrize("path", ["system$;deadletter", "system$;journal", "orders;journal"])
def test_the_managers_own_queues_and_journals_cannot_be_deleted(path: str) -> None:
    bench = Bench()
    before = everything(bench.state)
    refused = bench.ask(DeleteQueue(0, path))
    assert refused.status is HResult.ACCESS_DENIED
    assert refused.why.startswith(f"{path} is a journal or a queue of the manager itself")
    assert everything(bench.state) == before


def test_a_queue_that_is_not_there_cannot_be_deleted() -> None:
    bench = Bench()
    before = everything(bench.state)
    assert bench.ask(DeleteQueue(0, "nowhere")).status is HResult.QUEUE_NOT_FOUND
    assert everything(bench.state) == before
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.ask(DeleteQueue(0, "orders")).status is HResult.QUEUE_NOT_FOUND


def half_deleted(bench: Bench, turns: int = 1) -> int:
    """Return a queue that is being deleted, with old messages for two turns."""
    bench.send("orders", *[b"old"] * (bench.state.sizes.at_once + 5))
    bench.patient = True
    caller = bench.begin_asking(DeleteQueue(0, "orders"))
    bench.go_on(turns)
    return caller


@pytest.mark.parametrize("turns", [0, 1])
def test_the_name_is_free_while_the_old_messages_are_still_on_their_way_out(turns: int) -> None:
    bench = Bench()
    caller = half_deleted(bench, turns)
    assert bench.answer_to(caller) is None
    for event in (
        OpenQueue(0, "orders", Access.RECEIVE),
        BrowseMessages(0, "orders"),
        PurgeQueue(0, "orders"),
        ChangeQueue(0, "orders", {"quota": 1}),
        DeleteQueue(0, "orders"),
    ):
        assert bench.ask(event).status is HResult.QUEUE_NOT_FOUND
    assert bench.send("orders", b"x").status is HResult.QUEUE_NOT_FOUND

    assert bench.ask(CreateQueue(0, "orders")).status is HResult.OK
    bench.send("orders", b"new")
    bench.go_on()
    assert bench.answer_to(caller).status is HResult.OK
    assert bench.bodies() == [b"new"]
    check(bench.state)
    bench.restart()
    assert bench.bodies() == [b"new"]
    check(bench.state)


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_a_restart_goes_on_with_a_delete(turns: int) -> None:
    bench = Bench()
    half_deleted(bench, turns)
    bench.ask(CreateQueue(0, "orders"))
    bench.send("orders", b"new")
    bench.restart(start=False)
    bench.patient = False
    bench.start()
    bench.go_on()
    assert bodies(bench.ask(BrowseMessages(0, "orders"))) == [b"new"]
    assert len(bench.state.queues) == SYSTEM + 2
    assert len(every(bench.state, POSITIONS)) == 1
    check(bench.state)
    bench.restart()
    assert bench.bodies() == [b"new"]


@pytest.mark.parametrize("end", [CommitTransaction, AbortTransaction])
@pytest.mark.parametrize("when", ["at once", "later", "after a restart"])
def test_what_a_prepared_transaction_received_waits_in_a_queue_that_is_deleted(end: Any, when: str) -> None:
    """The manager promised that it can commit; the queue's name is free nevertheless."""
    bench = Bench("orders", "other", subscribed=[PositionDeleted])
    (first, _, _) = bench.send("orders", b"moved", b"received", b"left", negative_journaling=True).lookup_ids
    transaction = bench.begin()
    bench.ask(MoveMessage(0, "orders", first, "other", transaction))
    bench.receive("orders", transaction=transaction)
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.patient = when == "at once"
    caller = bench.begin_asking(DeleteQueue(0, "orders"))
    if when != "at once":
        assert bench.answer_to(caller).count == 1
        assert bench.bodies("system$;deadletter") == [b"left"]
        assert bench.create("orders").status is HResult.OK
    if when == "after a restart":
        bench.restart()
    check(bench.state)
    assert bench.ask(end(0, transaction)).status is HResult.OK
    check(bench.state)
    bench.go_on()
    committed = end is CommitTransaction
    assert bench.bodies("other") == ([b"moved"] if committed else [])
    dead = [b"left"] if committed else [b"left", b"moved", b"received"]
    assert sorted(bench.bodies("system$;deadletter")) == dead
    assert [queue for queue in bench.state.queues.values() if queue.record.deleting] == []
    check(bench.state)
    bench.restart()
    assert sorted(bench.bodies("system$;deadletter")) == dead


def test_a_dead_letter_of_a_deleted_queue_does_not_come_back_into_it() -> None:
    bench = Bench("orders", "other")
    bench.send("orders", b"m1", negative_journaling=True, application_deadletter_queue="orders")
    bench.ask(DeleteQueue(0, "orders"))
    assert bench.bodies("system$;deadletter") == [b"m1"]
    check(bench.state)


@pytest.mark.spec("DM-141")
def test_a_new_queue_never_has_the_number_of_one_that_still_holds_messages() -> None:
    bench = Bench()
    half_deleted(bench)
    old = {number for number, queue in bench.state.queues.items() if queue.record.deleting}
    bench.create("new")
    assert bench.queue("new").number not in old
    bench.restart()
    bench.create("newer")
    assert bench.queue("newer").number not in old


def test_what_is_put_aside_while_its_queue_is_deleted_goes_with_it() -> None:
    """The simulator found it: the new subqueue was left without its queue, and nothing started any more."""
    bench = Bench("other")
    bench.create("orders", poison_limit=1)
    bench.send("orders", b"m1")
    bench.receive("orders", transaction=bench.begin())
    queues = len(bench.state.queues)
    assert bench.ask(DeleteQueue(0, "orders")).status is HResult.OK
    assert len(bench.state.queues) == queues - 2, "the queue and its journal"
    bench.restart()
    check(bench.state)
    assert bench.state.totals.bytes == 0


@pytest.mark.parametrize("delivery", Delivery)
@pytest.mark.spec("DM-154", "DM-185")
def test_a_delete_overtakes_a_purge_and_leaves_nothing(delivery: Delivery) -> None:
    """The purge does not count messages that came after it began, and the delete waits for its end."""
    bench = Bench()
    bench.patient = True
    bench.handle(PurgeQueue(1, "orders"))
    bench.send("orders", b"later", delivery=delivery)
    bench.handle(DeleteQueue(2, "orders"))
    bench.go_on(1)
    check(bench.state)
    bench.go_on()
    check(bench.state)
    assert bench.state.totals.bytes == 0
    assert every(bench.state, POSITIONS) == {}
    assert every(bench.state, MESSAGES) == {}
    assert [bench.answer_to(each).status for each in (1, 2)] == [HResult.OK, HResult.OK]

"""Tests the comparison of the running manager with a second one that is built from a copy of the disk."""

from __future__ import annotations

import pytest

from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.events import PrepareTransaction
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.travel.transfer import ReservationWanted
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Turned, Violation
from reliquary.sim.ledger import Ledger
from reliquary.sim.mirror import compare_managers, compare_with_ledger, picture, walk
from reliquary.store.staging import StagedRows
from tests.queueing.manager_harness import Bench
from tests.sim.written_history import NOW, Nothing


def busy() -> Bench:
    bench = Bench("orders", "ledger")
    bench.send("orders", b"a", b"b", b"c")
    bench.send("orders", b"gone with the process", delivery=Delivery.EXPRESS)
    bench.receive("orders", hold=60)
    transaction = bench.begin()
    bench.send("ledger", b"x", transaction=transaction)
    bench.receive("orders", transaction=transaction)
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.manager.on_signal(ReservationWanted("httpr", (1, 1), ("orders",), 9, 1_000_000), bench.now)
    bench.flush()
    return bench


def rebuilt(bench: Bench) -> QueueManager:
    return QueueManager(StagedRows(bench.disk), SeededChance(1))


def test_a_rebuilt_manager_knows_what_the_running_one_knows() -> None:
    bench = busy()
    compare_managers(bench.manager, walk(bench.state), rebuilt(bench))


def test_state_of_the_process_alone_is_not_compared() -> None:
    bench = busy()
    shown = picture(bench.state, walk(bench.state))
    assert len(shown.positions[bench.queue("orders").number]) == 3
    assert len(shown.hidden[bench.queue("ledger").number]) == 1
    assert len(shown.hidden[bench.queue("orders").number]) == 2  # in a transaction, and held by a carrier


def test_something_that_recovery_would_lose_is_found() -> None:
    bench = busy()
    bench.send("ledger", b"not flushed")
    old = QueueManager(StagedRows(bench.disk.crash(bench.chance)), SeededChance(1))
    with pytest.raises(Violation, match="recovery: counters"):
        compare_managers(bench.manager, walk(bench.state), old)


def test_numbers_that_would_be_given_out_again_are_found() -> None:
    bench = busy()
    again = rebuilt(bench)
    bench.state.numbers.sequence = again.state.numbers.sequence + 1
    with pytest.raises(Violation, match="numbers would go on"):
        compare_managers(bench.manager, walk(bench.state), again)


def test_the_manager_holds_what_its_facts_add_up_to() -> None:
    bench = busy()
    ledger = Ledger.of([Turned(0, 1, 1, Nothing(), tuple(bench.facts), (), NOW)], 1)
    compare_with_ledger(bench.manager, walk(bench.state), ledger)
    bench.send("orders", b"d")
    with pytest.raises(Violation, match="too many"):
        compare_with_ledger(bench.manager, walk(bench.state), ledger)


def test_a_walk_changes_nothing_in_memory() -> None:
    bench = busy()
    bench.restart()
    order = bench.queue("orders").order
    before = list(order._available)
    walk(bench.state)
    assert order._available == before

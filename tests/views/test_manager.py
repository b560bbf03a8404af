"""Tests the view of the totals of a manager and its state."""

from __future__ import annotations

from reliquary.queueing.model.events import FlowControl, PrepareTransaction, TakeOffline
from reliquary.queueing.model.queue import ManagerState
from reliquary.views.manager import manager_view
from reliquary.views.queues import queues
from tests.queueing.manager_harness import Bench


def test_the_manager_is_shown_with_its_totals() -> None:
    bench = Bench("orders", quota=500)
    bench.send("orders", b"one", b"two")
    bench.receive("orders", hold=60)
    bench.begin()
    prepared = bench.begin()
    bench.ask(PrepareTransaction(0, prepared))
    view = manager_view(bench.state)
    assert (view.computer_name, view.quota_kilobytes, view.messages) == ("BENCH", 500, 2)
    assert view.queues == len(list(queues(bench.state)))
    assert (view.transactions_active, view.transactions_prepared, view.copies_lost) == (1, 1, {})
    assert view.bytes == bench.state.totals.bytes > 0


def test_the_manager_says_whether_it_takes_and_sends_messages() -> None:
    bench = Bench("orders")
    assert (manager_view(bench.state).online, manager_view(bench.state).throttled) == (True, False)
    bench.ask(TakeOffline(0))
    bench.handle(FlowControl(throttled=True))
    view = manager_view(bench.state)
    assert (view.state, view.online, view.throttled) == (ManagerState.READY, False, True)

"""Tests of the table of the states of a queue."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import ChangeQueue, CreateQueue, DeleteQueue, PurgeQueue, SendMessages
from reliquary.queueing.rules.queue_life import NEXT, QueueEvent, QueueLifeState, after, life_of
from tests.queueing.manager_harness import Bench, message


def test_no_case_is_missing() -> None:
    assert set(NEXT) == set(product(QueueLifeState, QueueEvent))


def test_a_queue_stands_where_its_record_says() -> None:
    bench = Bench()
    assert life_of(None) is QueueLifeState.ABSENT
    assert life_of(bench.queue()) is QueueLifeState.THERE
    assert life_of(bench.queue("orders;journal")) is QueueLifeState.FIXED
    assert life_of(bench.queue("system$;deadletter")) is QueueLifeState.FIXED
    assert after(bench.queue(), QueueEvent.DELETE) is QueueLifeState.LEAVING


@pytest.mark.spec("DM-156")
@pytest.mark.parametrize("path", ["missing", "orders", "orders;journal", "system$;deadletter", "leaving"])
def test_what_is_answered_is_what_the_table_says(path: str) -> None:
    for step in (QueueEvent.CREATE, QueueEvent.CHANGE, QueueEvent.PURGE, QueueEvent.DELETE):
        bench = Bench("orders", "leaving")
        bench.ask(SendMessages(0, "leaving", (message(b"m1"),)))
        leaving = bench.queue("leaving")
        bench.patient = True
        bench.begin_asking(DeleteQueue(0, "leaving"))
        queue = leaving if path == "leaving" else bench.state.find(bench.state.parse(path))
        expected = after(queue, step)
        request = {
            QueueEvent.CREATE: CreateQueue(0, path),
            QueueEvent.CHANGE: ChangeQueue(0, path, {"label": "x"}),
            QueueEvent.PURGE: PurgeQueue(0, path),
            QueueEvent.DELETE: DeleteQueue(0, path),
        }[step]
        caller = bench.begin_asking(request)
        bench.go_on()
        status = bench.answer_to(caller).status
        if step is QueueEvent.CREATE and path in ("orders;journal", "system$;deadletter"):
            assert status is HResult.ILLEGAL_QUEUE_PATHNAME  # a user cannot create these
        else:
            assert status is (expected if isinstance(expected, HResult) else HResult.OK), step

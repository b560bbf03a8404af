"""Tests the server agent: requests that cannot be read, and what a restart knows after each step."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.events import RequestArrived
from reliquary.protocols.httpr.machine import Httpr
from tests.protocols.httpr.client_harness import (
    CLIENT,
    COMMIT,
    Client,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import HttprBench


@pytest.mark.httpr("T47")
@pytest.mark.spec("HR-084")
@pytest.mark.parametrize("number", [519, 520, 530])
def test_what_cannot_be_read_is_refused_and_changes_nothing(number: int) -> None:
    bench = HttprBench()
    caller = bench.new_caller()
    bench.handle(RequestArrived(caller, 1, "orders", None, fault=ErrorNumber(number), why="nonsense"))
    answer = bench.answer_to(caller)
    assert (error(answer), pair(answer), ends(answer), answer.why) == (number, (None, None), True, "nonsense")
    assert bench.httpr.state.channels == {}


@pytest.mark.spec("HR-031", "HR-050")
def test_the_rebuilt_state_equals_the_live_state_after_each_step() -> None:
    bench = HttprBench()
    client = Client(bench)
    steps: list[tuple[str, dict[str, Any]]] = [
        ("begin", {}),
        ("push", {"batch": 1}),
        ("pull", {"completed": 0}),
        ("report", {"completed": 1, "outcome": COMMIT, "last_pushed_id": 1}),
        ("report", {"forget": 1, "last_pushed_id": 1}),
        ("push", {"batch": 2, "fault": ErrorNumber(520)}),
    ]
    for name, options in steps:
        answer = getattr(client, name)(**options)
        assert answer is not None
        bench.flush()
        rebuilt = Httpr(bench.rows, bench.settings).state
        live = bench.httpr.state
        assert (rebuilt.channels, rebuilt.numbers) == (live.channels, live.numbers), name
    assert client.row.requester == CLIENT

"""Requests to the queue manager have numbers of their own, and each answer is matched to its request."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.reader import NAME
from reliquary.protocols.mqqp.server.asking import Unattended, ask, number_for, on_unattended
from reliquary.queueing.model.events import Answer, CloseQueue
from reliquary.queueing.model.travel.asking import RequestMade
from tests.protocols.mqqp.server.server_harness import ServerBench


def test_numbers_are_negative_and_used_once() -> None:
    machine = ServerBench().machines[NAME]
    assert isinstance(machine, Mqqp)
    state = machine.state
    subjects = [Unattended() for _ in range(3)]
    numbers = [number_for(state, subject) for subject in subjects]
    assert numbers == [-1, -2, -3]
    assert state.server.asked == dict(zip(numbers, subjects, strict=True))


def test_a_request_is_made_in_the_name_of_the_protocol_and_its_peer() -> None:
    machine = ServerBench().machines[NAME]
    assert isinstance(machine, Mqqp)
    request = CloseQueue(-1, 5)
    ask(machine.state, request, "10.0.0.9")
    assert machine.state.draft.take().signals == (RequestMade(NAME, request, "10.0.0.9"),)
    on_unattended(machine.state, Unattended(), Answer(HResult.INVALID_HANDLE), ServerBench().now)
    assert machine.state.draft.take().signals == ()


def test_numbers_increase_as_long_as_the_process_runs() -> None:
    bench = ServerBench()
    for _ in range(3):
        client = bench.client()
        client.open()
        client.lose()
    assert bench.server.last_caller <= -6
    assert bench.is_idle

"""Tests calls: their numbers, their times, and what is forgotten with them."""

from __future__ import annotations

from reliquary.base.time import seconds
from reliquary.protocols.mqqp.client.calling import TIMER, take
from reliquary.protocols.mqqp.codec.qm2qm import StartReceive2
from reliquary.protocols.mqqp.machine import Mqqp
from tests.protocols.mqqp.client.two_managers import Silence, TwoManagers


def timers(two: TwoManagers) -> list[int]:
    return [number for name, number in two.here.timers if name == TIMER]


def test_each_call_has_a_number_and_a_timer_until_it_returns() -> None:
    two = TwoManagers()
    two.script[StartReceive2] = Silence.BEFORE
    handle = two.open()
    assert timers(two) == []
    two.begin_receiving(handle, timeout=5)
    calls = [each.call for each in two.went]
    assert len(set(calls)) == len(calls)
    assert timers(two) == [calls[-1]] == list(two.link.calls)
    assert two.here.timers[TIMER, calls[-1]] - two.here.now == seconds(65)


def test_a_read_that_waits_without_end_has_no_timer() -> None:
    two = TwoManagers()
    two.begin_receiving(two.open())
    assert timers(two) == []
    assert len(two.link.calls) == 1


def test_a_call_of_another_link_is_not_taken() -> None:
    two = TwoManagers()
    two.begin_receiving(two.open())
    machine = two.here.machines["mqqp"]
    assert isinstance(machine, Mqqp)
    (number,) = two.link.calls
    assert take(machine.state, 99, number) is None
    assert take(machine.state, two.link.number, 98) is None
    found = take(machine.state, two.link.number, number)
    assert found is not None
    assert found.number == number
    assert take(machine.state, two.link.number, number) is None
    machine.state.draft.take()

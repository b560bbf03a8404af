"""Tests a calendar that jumps, and a process that never sees it go back."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.sim.chance import SeededChance
from reliquary.sim.clock import BEGINNING, Calendar, ProcessClock
from reliquary.sim.scheduler import Scheduler


def test_the_calendar_goes_with_time_and_with_those_who_set_it() -> None:
    scheduler = Scheduler(SeededChance(1))
    calendar = Calendar(scheduler)
    scheduler.now = 5
    assert calendar.read() == BEGINNING + 5
    calendar.jump(-SECOND)
    assert calendar.read() == BEGINNING + 5 - SECOND


def test_a_process_sees_a_clock_that_slows_down_rather_than_going_back() -> None:
    scheduler = Scheduler(SeededChance(1))
    calendar = Calendar(scheduler)
    clock = ProcessClock(calendar)
    assert clock.now() == BEGINNING
    calendar.jump(-SECOND)
    assert clock.now() == BEGINNING
    scheduler.now += SECOND
    assert clock.now() == BEGINNING + SECOND * 7 // 8
    assert clock.jumps == 0
    calendar.jump(3 * SECOND)
    assert clock.now() == BEGINNING + 3 * SECOND
    assert clock.jumps == 1


def test_the_next_process_may_begin_before_the_last_one_ended() -> None:
    calendar = Calendar(Scheduler(SeededChance(1)))
    ProcessClock(calendar).now()
    calendar.jump(-SECOND)
    assert ProcessClock(calendar).now() == BEGINNING - SECOND

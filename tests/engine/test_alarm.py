"""Tests that due timers become events, and that a calendar that is set forward makes its timers due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reliquary.base.time import Instant
from reliquary.base.turn import Event, TimerFired
from reliquary.engine.alarm import Alarm

HOUR = 3_600_000_000


class StillClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.jumps = 0
        self.time = 0

    def now(self) -> Instant:
        return Instant(self.time)

    def monotonic(self) -> int:
        return self.time


def run(story: Callable[[Alarm, StillClock, list[Event]], None]) -> None:
    async def begin() -> None:
        clock, events = StillClock(), list[Event]()
        alarm = Alarm(clock, events.append)
        alarm.start(asyncio.get_running_loop())
        story(alarm, clock, events)
        alarm.stop()

    asyncio.run(begin())


def test_each_timer_that_is_due_becomes_one_event() -> None:
    def story(alarm: Alarm, clock: StillClock, events: list[Event]) -> None:
        alarm.timers.set(("late", 0), HOUR)
        alarm.timers.set(("soon", 0), 10)
        alarm.ring()
        assert events == []
        clock.time = 10
        alarm.ring()
        alarm.ring()
        assert events == [TimerFired(("soon", 0))]

    run(story)


def test_an_alarm_is_set_anew_for_a_timer_that_is_due_earlier() -> None:
    def story(alarm: Alarm, clock: StillClock, events: list[Event]) -> None:
        alarm.renew()
        handles = [alarm._handle]  # there is no timer
        for name, at in (("late", HOUR), ("later", 2 * HOUR), ("soon", 10)):
            alarm.timers.set((name, 0), at)
            alarm.renew()
            handles.append(alarm._handle)
        nothing, late, later, soon = handles
        assert nothing is None
        assert late is not None
        assert late is later
        assert late.cancelled()
        assert soon is not late

    run(story)


def test_only_timers_of_the_calendar_follow_it() -> None:
    def story(alarm: Alarm, clock: StillClock, events: list[Event]) -> None:
        for name in ("span", "moment", "gone"):
            alarm.timers.set((name, 0), HOUR)
        alarm.calendar = {("moment", 0): None, ("gone", 0): None}
        alarm.timers.cancel(("gone", 0))
        clock.jumps += 1
        alarm.follow_calendar()
        alarm.ring()
        assert (events, alarm.jumps) == ([TimerFired(("moment", 0))], 1)

    run(story)

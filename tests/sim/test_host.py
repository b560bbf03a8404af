"""The machine: after every end there is another start, on what the disk has kept."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.sim.weather import Weather
from tests.sim.theatre import Theatre


def test_a_process_that_ended_is_followed_by_another_that_knows_the_same_queues() -> None:
    theatre = Theatre()
    names = dict(theatre.process.manager.state.names)
    theatre.process.cut_power()
    assert theatre.host.process is None
    theatre.until(lambda: theatre.host.ready)
    assert theatre.process.manager.state.names == names
    assert (theatre.history.lives, theatre.history.crashes) == (2, 1)


def test_power_goes_again_and_again_until_the_weather_clears_up() -> None:
    theatre = Theatre(weather=Weather(power_every=SECOND), queues=False)
    theatre.passes(30 * SECOND)
    lives = theatre.history.lives
    assert lives > 5
    theatre.weather.clear_up()
    theatre.passes(30 * SECOND)
    assert theatre.history.lives <= lives + 1
    assert theatre.host.ready


def test_people_stop_it_and_set_its_calendar() -> None:
    theatre = Theatre(weather=Weather(stop_every=SECOND, jump_every=SECOND), queues=False)
    before = theatre.host.calendar.read() - theatre.scheduler.now
    theatre.passes(10 * SECOND)
    assert theatre.history.lives > 2
    assert theatre.host.calendar.read() - theatre.scheduler.now != before


def test_power_may_go_at_every_point_even_during_the_start() -> None:
    theatre = Theatre(weather=Weather(power_at_a_point=0.9), queues=False)
    theatre.passes(10 * SECOND)
    assert theatre.history.lives > 5

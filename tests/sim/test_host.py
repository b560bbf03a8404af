"""The machine: after every end there is another start, on what the disk has kept."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.sim.site_faults import SiteFaults
from tests.sim.simulated_server import SimulatedServer


def test_a_process_that_ended_is_followed_by_another_that_knows_the_same_queues() -> None:
    server = SimulatedServer()
    names = dict(server.process.manager.state.names)
    server.process.cut_power()
    assert server.host.process is None
    server.until(lambda: server.host.ready)
    assert server.process.manager.state.names == names
    assert (server.history.lives, server.history.crashes) == (2, 1)


def test_power_goes_again_and_again_until_the_faults_end() -> None:
    server = SimulatedServer(faults=SiteFaults(power_every=SECOND), queues=False)
    server.passes(30 * SECOND)
    lives = server.history.lives
    assert lives > 5
    server.faults.end()
    server.passes(30 * SECOND)
    assert server.history.lives <= lives + 1
    assert server.host.ready


def test_people_stop_it_and_set_its_calendar() -> None:
    server = SimulatedServer(faults=SiteFaults(stop_every=SECOND, jump_every=SECOND), queues=False)
    before = server.host.calendar.read() - server.scheduler.now
    server.passes(10 * SECOND)
    assert server.history.lives > 2
    assert server.host.calendar.read() - server.scheduler.now != before


def test_power_may_go_at_every_point_even_during_the_start() -> None:
    server = SimulatedServer(faults=SiteFaults(power_at_a_point=0.9), queues=False)
    server.passes(10 * SECOND)
    assert server.history.lives > 5

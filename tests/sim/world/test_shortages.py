"""Managers are throttled now and then in some seeds, and not after the faults have ended."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import SECOND
from reliquary.queueing.model.events import FlowControl
from reliquary.sim.chance import SeededChance
from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.run import World
from reliquary.sim.world.shortages import LONGEST, Shortages, are_due


class Host:
    """A host whose process notes whether it is throttled."""

    def __init__(self) -> None:
        self.process: Any = self
        self.accepting = True
        self.seen: list[bool] = []

    def submit(self, event: FlowControl) -> None:
        """Note whether the manager takes messages from now on."""
        self.seen.append(event.throttled)


def test_a_manager_is_throttled_now_and_then_until_the_faults_end() -> None:
    chance = SeededChance(3)
    scheduler = Scheduler(chance)
    host, stopped = Host(), Host()
    stopped.process = None
    shortages = Shortages(scheduler, chance, [host, stopped])  # type: ignore[list-item]
    scheduler.pass_time(10 * SECOND)
    assert len(host.seen) > 6
    assert host.seen[:4] == [True, False, True, False]
    shortages.end()
    assert host.seen[-1] is False
    count = len(host.seen)
    scheduler.pass_time(LONGEST + SECOND)
    assert True not in host.seen[count:]
    assert stopped.seen == []


@pytest.mark.parametrize(("seed", "due"), [(3, True), (4, False), (13, True), (10, False)])
def test_one_seed_of_ten_has_shortages(seed: int, due: bool) -> None:
    assert are_due(seed) is due


def test_a_run_of_a_seed_with_shortages_refuses_messages_for_them() -> None:
    world = World(3, [MqqbPlugin])
    world.play(world.steps)
    seen = {
        turned.event.throttled
        for site in world.sites.values()
        for turned in site.history.turns
        if isinstance(turned.event, FlowControl)
    }
    assert seen == {True, False}

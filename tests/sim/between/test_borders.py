"""Sites lose sight of each other for a while, and not after the roads have cleared up."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.sim.between.borders import LONGEST_CLOSED, Borders
from reliquary.sim.between.roads import Roads
from reliquary.sim.chance import SeededChance
from reliquary.sim.scheduler import Scheduler


def test_borders_close_and_open_again_until_the_roads_clear_up() -> None:
    chance, roads = SeededChance(3), Roads(closed_every=SECOND // 10)
    scheduler = Scheduler(chance)
    borders = Borders(scheduler, chance, roads)
    for site in ("a", "b"):
        borders.add(site)
    seen = set()
    for _ in range(100):
        scheduler.pass_time(SECOND // 10)
        seen.add(borders.are_closed("a", "b"))
        assert borders.are_closed("a", "b") == borders.are_closed("b", "a")
    assert True in seen
    roads.clear_up()
    scheduler.pass_time(LONGEST_CLOSED + SECOND)
    assert not borders.are_closed("a", "b")


def test_good_roads_have_no_borders() -> None:
    chance = SeededChance(3)
    scheduler = Scheduler(chance)
    Borders(scheduler, chance, Roads())
    assert not len(scheduler)

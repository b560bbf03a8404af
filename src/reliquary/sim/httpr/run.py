"""Several sites that speak HTTPR, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from reliquary.base.time import SECOND, Duration
from reliquary.queueing.message import FOREVER
from reliquary.sim.applications import Application
from reliquary.sim.between.correspondents import (
    INBOX,
    Clerk,
    Correspondent,
    Dispatcher,
    Neighbours,
    Purger,
    Streamer,
)
from reliquary.sim.between.run import NAMES, World, report_of
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.httpr.lanes import Lanes
from reliquary.sim.httpr.node import Neighbourhood, Node
from reliquary.sim.httpr.observer import Observer
from reliquary.sim.httpr.plan import Plan
from reliquary.sim.httpr.promises import check_drained, check_promises
from reliquary.sim.httpr.register import Channels
from reliquary.sim.httpr.tradesmen import ChannelKeeper, Porter, Settler
from reliquary.sim.httpr.travel import OUTBOX, PASSING, TRANSIT
from reliquary.sim.httpr.web import Web
from reliquary.sim.readers import Taker
from reliquary.sim.reports import Report

STEPS: Final = 300
"""Turns of all managers together before the sky clears."""
PATIENCE: Final = Duration(SECOND)
"""How long a response may take."""
LONG: Final = (FOREVER, 0x54600)
"""Nothing expires on the way: what does is not missed, and so could hide a loss."""


def simulate(
    seed: int,
    steps: int = STEPS,
    *,
    process: type[Node] = Node,
    disk: type[SimulatedDisk] = SimulatedDisk,
    say: Callable[[str], None] | None = None,
) -> Report:
    """Run a seed."""
    return report_of(seed, Market(seed, process=process, disk=disk, say=say), steps)


def url(authority: str, queue: str) -> str:
    """The name of a queue for those who are elsewhere."""
    return f"DIRECT=HTTPR://{authority}/httpr/mq#{queue}"


class Market(World):
    """The parts of one run, put together."""

    NAME: ClassVar[str] = "httpr"
    STEPS: ClassVar[int] = STEPS
    PASSING: ClassVar[frozenset[str]] = PASSING

    def __init__(
        self,
        seed: int,
        *,
        process: type[Node] = Node,
        disk: type[SimulatedDisk] = SimulatedDisk,
        say: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(seed)
        chance = self.chance
        self.roads = self.lanes = Lanes.drawn(chance)
        self.register = self.channels = Channels()
        names = NAMES[: chance.pick((2, 2, 3))]
        self.plan = Plan.drawn(chance, names)
        self.plan.note(self.channels)
        web = Web(self.scheduler, chance, self.lanes, PATIENCE, self.channels)
        web.walls = {pair for pair in self.plan.ways if not self.plan.may_dial(*pair)}
        for name in names:
            history = self.history(name, say)
            observer = Observer(history, self.channels, name)
            around = Neighbourhood(
                scheduler=self.scheduler,
                chance=chance,
                weather=self.weather,
                history=history,
                witness=observer,
                observer=observer,
                computer=name.partition(".")[0].upper(),
                web=web,
                authority=name,
                settings=self.plan.settings[name],
            )
            web.join(name, self.found(name, observer, around, process, disk).host)

    def founder(self, name: str) -> Application:
        """Who creates the queues of a site."""
        return Settler(f"{name}/settler", self.sites[name].stage)

    def cast(self, name: str) -> Iterable[Application]:
        """Who acts at a site."""
        stage, plan = self.sites[name].stage, self.plan
        others = tuple(other for other in self.sites if other != name)
        # who fetches a message that it cannot take leaves it where it is
        honest = not any(plan.is_fetched(name, other) for other in others)
        neighbours = Neighbours(others, url, mistakes=honest, receipts=False, times=LONG)
        found: list[Application] = [
            Correspondent(f"{name}/correspondent", stage, neighbours),
            Streamer(f"{name}/streamer", stage, neighbours),
            Purger(f"{name}/purger", stage, neighbours),
            Dispatcher(f"{name}/dispatcher", stage, neighbours),
            ChannelKeeper(f"{name}/keeper", stage),
            Clerk(f"{name}/clerk", stage),
            Taker(f"{name}/taker", stage),
        ]
        if plan.outbox is not None and plan.outbox[0] == name:
            found.append(Porter(f"{name}/porter", stage, OUTBOX))
        if plan.transit is not None and plan.transit[0] == name:
            target = f"httpr://{plan.transit[2]}/httpr/mq#{INBOX}"
            found.append(Porter(f"{name}/forwarder", stage, TRANSIT, target))
        return found

    def check_drained(self, name: str, process: Any) -> None:
        """Nothing is in doubt, and nothing is held."""
        check_drained(name, process.manager.state, process.httpr.state)

    def check_promises(self) -> None:
        """What must hold in the end."""
        check_promises(self.channels, self.plan)

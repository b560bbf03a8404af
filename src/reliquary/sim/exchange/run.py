"""Several sites that speak SRMP, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from reliquary.base.time import HOUR, MILLISECOND, SECOND, Duration
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.sim.applications import Application
from reliquary.sim.between.correspondents import (
    Clerk,
    Correspondent,
    Dispatcher,
    Neighbours,
    Purger,
    Streamer,
)
from reliquary.sim.between.roads import Roads
from reliquary.sim.between.run import NAMES, World, report_of
from reliquary.sim.chance import SeededChance
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.exchange.node import Neighbourhood, Node
from reliquary.sim.exchange.observer import Observer
from reliquary.sim.exchange.promises import check_drained, check_promises
from reliquary.sim.exchange.register import Letters
from reliquary.sim.exchange.web import Web
from reliquary.sim.readers import Taker
from reliquary.sim.reports import Report

STEPS: Final = 350
"""Turns of all managers together before the sky clears."""
PATIENCE: Final = Duration(SECOND)
"""How long an answer to a POST may take."""


def simulate(
    seed: int,
    steps: int = STEPS,
    *,
    process: type[Node] = Node,
    disk: type[SimulatedDisk] = SimulatedDisk,
    say: Callable[[str], None] | None = None,
) -> Report:
    """Run a seed."""
    return report_of(seed, Exchange(seed, process=process, disk=disk, say=say), steps)


def url(authority: str, queue: str) -> str:
    """The name of a queue for those who are elsewhere."""
    return f"DIRECT=http://{authority}/msmq/private$/{queue}"


class Exchange(World):
    """The parts of one run, put together."""

    NAME: ClassVar[str] = "srmp"
    STEPS: ClassVar[int] = STEPS

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
        self.roads = Roads.drawn(chance)
        self.register = self.letters = Letters()
        names = NAMES[: chance.pick((2, 2, 3, 3, 4))]
        self.settings = drawn_settings(chance, names)
        web = Web(self.scheduler, chance, self.roads, PATIENCE)
        for name in names:
            history = self.history(name, say)
            observer = Observer(history, self.letters, name)
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
                settings=self.settings[name],
            )
            web.join(name, self.found(name, observer, around, process, disk).host)

    def cast(self, name: str) -> Iterable[Application]:
        """Who acts at a site."""
        stage = self.sites[name].stage
        others = tuple(other for other in self.sites if other != name)
        # who sends through a third site is not told by the second that a message is refused
        honest = not any(settings.store_and_forward for settings in self.settings.values())
        neighbours = Neighbours(others, url, mistakes=honest)
        return (
            Correspondent(f"{name}/correspondent", stage, neighbours),
            Streamer(f"{name}/streamer1", stage, neighbours),
            Streamer(f"{name}/streamer2", stage, neighbours),
            Purger(f"{name}/purger", stage, neighbours),
            Dispatcher(f"{name}/dispatcher", stage, neighbours),
            Clerk(f"{name}/clerk", stage),
            Taker(f"{name}/taker", stage),
        )

    def check_drained(self, name: str, process: Any) -> None:
        """No number is outstanding, no POST is waited for."""
        check_drained(name, process.manager.state, process.srmp.state)

    def check_promises(self) -> None:
        """What must hold in the end."""
        check_promises(self.letters, self.settings)


def drawn_settings(chance: SeededChance, names: tuple[str, ...]) -> dict[str, SrmpSettings]:
    """Small windows and short timers for each site; sometimes one site passes on what another sends."""
    forwarder = names[-1] if len(names) > 2 and chance.happens(0.5) else ""
    found = {}
    for name in names:
        coalescing = Duration(chance.pick((MILLISECOND, 20 * MILLISECOND, 100 * MILLISECOND)))
        redirections: tuple[Redirection, ...] = ()
        if forwarder and name == names[0]:
            redirections = (Redirection(f"http://{names[1]}/*", f"http://{forwarder}/"),)
        found[name] = SrmpSettings(
            receipts_host=name,
            store_and_forward=name == forwarder,
            outbound_redirections=redirections,
            retransmission=Duration(chance.pick((100, 300, 1000)) * MILLISECOND),
            resend_ladder=tuple(
                Duration(span * MILLISECOND) for span in chance.pick(((300, 300, 1000, 5000), (1000, 3000)))
            ),
            session_cleanup=Duration(chance.pick((500, 3000)) * MILLISECOND),
            response_time=PATIENCE,
            coalescing=coalescing,
            longest_coalescing=Duration(chance.between(1, 4) * coalescing),
            most_coalesced=chance.pick((1, 3, 1000)),
            in_flight=chance.pick((1, 2, 4)),
            window=chance.pick((1, 3, 8)),
            history_size=chance.pick((4, 1000)),
            history_age=Duration(chance.pick((SECOND, 2 * HOUR))),
        )
    return found

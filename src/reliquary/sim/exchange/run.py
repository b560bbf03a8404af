"""One run of several sites: a seed, its weather and its roads; in the end everything must have arrived."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from reliquary.base.time import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Duration
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.sim.applications import Application
from reliquary.sim.chance import SeededChance
from reliquary.sim.checkers import check_refusals
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.exchange.correspondents import (
    INBOX,
    LEDGER,
    Clerk,
    Correspondent,
    Dispatcher,
    Founder,
    Purger,
    Streamer,
)
from reliquary.sim.exchange.node import Neighbourhood, Node
from reliquary.sim.exchange.observer import Observer
from reliquary.sim.exchange.promises import check_drained, check_promises, under_way
from reliquary.sim.exchange.register import Register
from reliquary.sim.exchange.roads import Roads
from reliquary.sim.exchange.web import Web
from reliquary.sim.history import History, Violation
from reliquary.sim.readers import Taker
from reliquary.sim.reports import Report, failure_of
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.site import Site
from reliquary.sim.weather import Weather

STEPS: Final = 350
"""Turns of all managers together before the sky clears."""
NAMES: Final = ("a.example", "b.example", "c.example", "d.example")
PATIENCE: Final = Duration(SECOND)
"""How long an answer to a POST may take."""
LONGEST_TRANSACTION: Final = 4 * SECOND
"""After this, what was only begun has come back."""
ROUND: Final = 2 * SECOND
ROUNDS: Final = 30
"""So often queues are read in the end while nothing gets further; longer than any timer runs."""


def simulate(
    seed: int,
    steps: int = STEPS,
    *,
    process: type[Node] = Node,
    disk: type[SimulatedDisk] = SimulatedDisk,
    say: Callable[[str], None] | None = None,
) -> Report:
    """Run a seed.  Whatever breaks, a promise or the machine itself, is in the report."""
    run = Exchange(seed, process=process, disk=disk, say=say)
    failure = failure_of(lambda: run.play(steps))
    options = " --world srmp" + (f" --steps {steps}" if steps != STEPS else "")
    return Report.of(seed, steps, [site.history for site in run.sites.values()], failure, options)


class Exchange:
    """The parts of one run, put together."""

    def __init__(
        self,
        seed: int,
        *,
        process: type[Node] = Node,
        disk: type[SimulatedDisk] = SimulatedDisk,
        say: Callable[[str], None] | None = None,
    ) -> None:
        chance = self.chance = SeededChance(seed)
        self.scheduler = Scheduler(chance)
        self.weather = Weather.drawn(chance)
        self.roads = Roads.drawn(chance)
        self.register = Register()
        names = NAMES[: chance.pick((2, 2, 3, 3, 4))]
        self.settings = drawn_settings(chance, names)
        web = Web(self.scheduler, chance, self.roads, PATIENCE)
        self.sites: dict[str, Site] = {}
        for name in names:
            history = History(partial(_say, say, name) if say else None, sendings=self.register.sendings)
            observer = Observer(history, self.register, name)
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
            site = self.sites[name] = Site(around, (INBOX, LEDGER), process=process, disk=disk)
            observer.host = site.host
            self.register.sites[name] = observer
            web.join(name, site.host)

    def play(self, steps: int) -> None:
        """From the first start to the last comparison."""
        for name, site in self.sites.items():
            site.host.boot()
            site.stage.enter(Founder(f"{name}/founder", site.stage))
        for site in self.sites.values():
            site.until_nobody_acts("the queues could not be created")
        for name in self.sites:
            self._populate(name)
        self._until(lambda: self.turns >= steps, "the applications make no progress")
        self._clear_up()
        self._compare()
        self._drain()
        self._compare()
        check_promises(self.register, self.settings)
        for books in self.register.sites.values():
            check_refusals(books.history, books.ledger)
        for site in self.sites.values():
            site.restart()
        self._compare()

    @property
    def turns(self) -> int:
        """So many were run at all sites."""
        return sum(len(site.history.turns) for site in self.sites.values())

    def _populate(self, name: str) -> None:
        stage = self.sites[name].stage
        others = tuple(other for other in self.sites if other != name)
        # who sends through a third site is not told by the second that a message is refused
        honest = not any(settings.store_and_forward for settings in self.settings.values())
        cast: tuple[Application, ...] = (
            Correspondent(f"{name}/correspondent", stage, others, mistakes=honest),
            Streamer(f"{name}/streamer1", stage, others, mistakes=honest),
            Streamer(f"{name}/streamer2", stage, others, mistakes=honest),
            Purger(f"{name}/purger", stage, others),
            Dispatcher(f"{name}/dispatcher", stage, others),
            Clerk(f"{name}/clerk", stage),
            Taker(f"{name}/taker", stage),
        )
        for application in cast:
            stage.enter(application)

    def _clear_up(self) -> None:
        """Faults stop; everybody finishes."""
        self.weather.clear_up()
        self.roads.clear_up()
        for site in self.sites.values():
            site.stage.finishing = True
        for site in self.sites.values():
            site.clear_up()
        self.scheduler.pass_time(LONGEST_TRANSACTION)
        for site in self.sites.values():
            site.until_idle()

    def _drain(self) -> None:
        """Nothing that goes elsewhere may be left when the faults have ended."""
        self._read_to_the_end()
        if self._under_way():  # a calendar was set back: a message is too old for all others but its sender
            for site in self.sites.values():
                site.host.calendar.jump(DAY)
            self._read_to_the_end()
        for name, site in self.sites.items():
            node = self._node(site)
            check_drained(name, node.manager.state, node.srmp.state)

    def _read_to_the_end(self) -> None:
        """Queues are read until nothing is on its way, or nothing moves; final receipts wait for readers."""
        fewest, rounds = self._under_way(), 0
        while rounds < ROUNDS:
            for site in self.sites.values():
                site.read_to_the_end()
            count = self._under_way()
            if not count:
                break
            fewest, rounds = min(fewest, count), 0 if count < fewest else rounds + 1
            self.scheduler.pass_time(ROUND)

    def _under_way(self) -> int:
        """How many messages are in outgoing queues."""
        return sum(sum(under_way(self._node(site).manager.state).values()) for site in self.sites.values())

    def _node(self, site: Site) -> Node:
        process = site.process
        assert isinstance(process, Node)
        return process

    def _compare(self) -> None:
        for site in self.sites.values():
            site.until_idle()
            site.process.checkpoint()

    def _until(self, done: Callable[[], bool], otherwise: str) -> None:
        if not self.scheduler.run_until(done, latest=self.scheduler.now + 10 * MINUTE):
            raise Violation(otherwise)


def _say(say: Callable[[str], None], name: str, line: str) -> None:
    say(f"{name[0]} {line}")


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

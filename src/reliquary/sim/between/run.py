"""One run of several sites: a seed, its weather and its roads; in the end everything must have arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, Final

from reliquary.base.time import DAY, MINUTE, SECOND
from reliquary.sim.applications import Application
from reliquary.sim.between.correspondents import INBOX, LEDGER, Founder
from reliquary.sim.between.observer import SiteObserver
from reliquary.sim.between.promises import under_way
from reliquary.sim.between.register import Register
from reliquary.sim.between.roads import Roads
from reliquary.sim.chance import SeededChance
from reliquary.sim.checkers import check_refusals
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History, Violation
from reliquary.sim.process import Process, Surroundings
from reliquary.sim.reports import Report, failure_of
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.site import Site
from reliquary.sim.weather import Weather

NAMES: Final = ("a.example", "b.example", "c.example", "d.example")
LONGEST_TRANSACTION: Final = 4 * SECOND
"""After this, what was only begun has come back."""
ROUND: Final = 2 * SECOND
ROUNDS: Final = 30
"""So often queues are read in the end while nothing gets further; longer than any timer runs."""


class World:
    """Several sites and what is between them; each protocol has its own."""

    NAME: ClassVar[str]
    """What `--world` calls it."""
    STEPS: ClassVar[int]
    """Turns of all managers together before the sky clears."""
    PASSING: ClassVar[frozenset[str]] = frozenset()
    """Queues of every site from which others fetch: nobody reads them there."""
    register: Register
    roads: Roads

    def __init__(self, seed: int) -> None:
        self.chance = SeededChance(seed)
        self.scheduler = Scheduler(self.chance)
        self.weather = Weather.drawn(self.chance)
        self.sites: dict[str, Site] = {}

    # -- what a protocol's own world does

    def cast(self, name: str) -> Iterable[Application]:
        """Who acts at a site."""
        raise NotImplementedError

    def founder(self, name: str) -> Application:
        """Who creates the queues of a site."""
        return Founder(f"{name}/founder", self.sites[name].stage)

    def check_drained(self, name: str, process: Any) -> None:
        """Nothing of what goes elsewhere is left."""
        raise NotImplementedError

    def check_promises(self) -> None:
        """What must hold in the end."""
        raise NotImplementedError

    # -- the parts

    def history(self, name: str, say: Callable[[str], None] | None) -> History:
        """The history of one site; all sendings are in one place."""
        return History(partial(_say, say, name) if say else None, sendings=self.register.sendings)

    def found(
        self,
        name: str,
        observer: SiteObserver,
        around: Surroundings,
        process: type[Process],
        disk: type[SimulatedDisk],
    ) -> Site:
        """Put a site where its observer can see it."""
        site = self.sites[name] = Site(
            around, (INBOX, LEDGER), process=process, disk=disk, unread=self.PASSING
        )
        observer.host = site.host
        self.register.sites[name] = observer
        return site

    # -- the run

    def play(self, steps: int) -> None:
        """From the first start to the last comparison."""
        for name, site in self.sites.items():
            site.host.boot()
            site.stage.enter(self.founder(name))
        for site in self.sites.values():
            site.until_nobody_acts("the queues could not be created")
        for name, site in self.sites.items():
            for application in self.cast(name):
                site.stage.enter(application)
        self._until(lambda: self.turns >= steps, "the applications make no progress")
        self._clear_up()
        self._compare()
        self._drain()
        self._compare()
        self.check_promises()
        for books in self.register.sites.values():
            check_refusals(books.history, books.ledger)
        for site in self.sites.values():
            site.restart()
        self._compare()

    @property
    def turns(self) -> int:
        """So many were run at all sites."""
        return sum(len(site.history.turns) for site in self.sites.values())

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
        self.scheduler.pass_time(ROUND)  # the last answers are on their way
        self._read_to_the_end()  # and a receipt may be due for what came just now
        for name, site in self.sites.items():
            self.check_drained(name, site.process)

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
        return sum(sum(under_way(each.manager.state, self.PASSING).values()) for each in self._processes())

    def _processes(self) -> Iterator[Process]:
        for site in self.sites.values():
            yield site.process

    def _compare(self) -> None:
        for site in self.sites.values():
            site.until_idle()
            site.process.checkpoint()

    def _until(self, done: Callable[[], bool], otherwise: str) -> None:
        if not self.scheduler.run_until(done, latest=self.scheduler.now + 10 * MINUTE):
            raise Violation(otherwise)


def report_of(seed: int, world: World, steps: int) -> Report:
    """Play it.  Whatever breaks, a promise or the machine itself, is in the report."""
    failure = failure_of(lambda: world.play(steps))
    options = f" --world {world.NAME}" + (f" --steps {steps}" if steps != world.STEPS else "")
    return Report.of(seed, steps, [site.history for site in world.sites.values()], failure, options)


def _say(say: Callable[[str], None], name: str, line: str) -> None:
    say(f"{name[0]} {line}")

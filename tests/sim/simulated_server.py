"""One simulated server for tests, with its network and its applications; no faults by default."""

from __future__ import annotations

from collections.abc import Callable

from reliquary.base.time import MINUTE
from reliquary.base.turn import Event
from reliquary.sim.administrators import Administrator
from reliquary.sim.applications import Application
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import History
from reliquary.sim.network import Line, Outcome
from reliquary.sim.process import Process, Surroundings
from reliquary.sim.run import QUEUES
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.site import Site
from reliquary.sim.site_faults import SiteFaults
from reliquary.sim.witness import Witness


class SimulatedServer:
    """A server that has started, with all its queues."""

    def __init__(self, seed: int = 1, faults: SiteFaults | None = None, *, queues: bool = True) -> None:
        self.chance = SeededChance(seed)
        self.faults = faults or SiteFaults()
        self.history = History()
        self.witness = Witness(self.history)
        self.scheduler = Scheduler(self.chance)
        around = Surroundings(self.scheduler, self.chance, self.faults, self.history, self.witness)
        self.site = Site(around, QUEUES)
        self.host, self.context, self.network = self.site.host, self.site.context, self.site.context.network
        self.line = Line()
        self.host.boot()
        if queues:
            self.play(Administrator("admin", self.context))

    @property
    def process(self) -> Process:
        assert self.host.process is not None
        return self.host.process

    def play(self, application: Application) -> None:
        """Let an application act to its end."""
        self.context.enter(application)
        self.until(lambda: application.name not in self.context.acting)

    def rounds(self, *applications: Application, turns: int = 200) -> None:
        """Let applications act together for `turns` turns, and then finish."""
        for application in applications:
            self.context.enter(application)
        goal = len(self.history.turns) + turns
        self.until(lambda: len(self.history.turns) >= goal)
        self.faults.end()
        self.context.finishing = True
        self.until(lambda: not self.context.acting)
        self.context.finishing = False

    def call(self, make: Callable[[int], Event]) -> list[Outcome]:
        """Send a request; the list gets the outcome when there is one."""
        outcomes: list[Outcome] = []
        self.network.call(self.line, make, outcomes.append)
        return outcomes

    def ask(self, make: Callable[[int], Event]) -> Outcome:
        outcomes = self.call(make)
        self.until(lambda: bool(outcomes))
        return outcomes[0]

    def until(self, done: Callable[[], bool]) -> None:
        assert self.scheduler.run_until(done, latest=self.scheduler.now + 10 * MINUTE), (
            "it never comes to that"
        )

    def passes(self, span: int) -> None:
        """Advance the simulated clock by a span."""
        self.scheduler.pass_time(span)

    def statuses(self) -> set[str]:
        """Return all the answers that were given so far."""
        answers = [answer for turned in self.history.turns for _, answer in turned.answers]
        return {answer.status.name for answer in answers}  # type: ignore[attr-defined]

    def events(self) -> set[str]:
        """Return all the kinds of events so far."""
        return {type(turned.event).__name__ for turned in self.history.turns}

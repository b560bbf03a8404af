"""Runs a seed: applications work while faults happen; then the faults end and checkers compare.

The parts of the simulator:

    applications --calls--> network --events--> process: manager, core --batches--> disk
         |                                          |
         '------ their view ------> history <-------'-- facts and answers of the manager
                                        |
                                     checkers      loss, duplication, order, balance, visibility
"""

from __future__ import annotations

from collections.abc import Callable

from reliquary.base.time import DAY, MINUTE
from reliquary.sim import restores
from reliquary.sim.administrators import SPARE, Administrator, MessageMover, Operator, QueueChanger
from reliquary.sim.applications import Application
from reliquary.sim.chance import SeededChance
from reliquary.sim.checkers import check_history, check_nothing_leaks
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.feeds import FeedReader
from reliquary.sim.history import History
from reliquary.sim.process import Process, Surroundings
from reliquary.sim.readers import Browser, PlainReceiver, TrialReceiver
from reliquary.sim.reports import Report, failure_of
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.senders import ExpiringSender, OutgoingSender, Producer
from reliquary.sim.site import Site
from reliquary.sim.site_faults import SiteFaults
from reliquary.sim.transactors import Canceller, Coordinator, Transactor
from reliquary.sim.witness import Witness
from reliquary.sim.writers import Writer

STEPS = 600
"""The number of turns of the manager before the faults end."""
QUEUES = ("orders", "ledger", "inbox", "orders;retry", SPARE, f"{SPARE};part")
ROUNDS = 3
"""The number of times that queues are read again at the end."""
APPLICATIONS: tuple[tuple[type[Application], int], ...] = (
    (Producer, 3), (ExpiringSender, 1), (OutgoingSender, 1), (PlainReceiver, 2), (TrialReceiver, 2),
    (Browser, 1), (Transactor, 2), (Canceller, 1), (Coordinator, 1), (MessageMover, 1), (QueueChanger, 1),
    (Operator, 1), (Writer, 2),
)  # fmt: skip


def simulate(
    seed: int,
    steps: int = STEPS,
    *,
    process: type[Process] = Process,
    disk: type[SimulatedDisk] = SimulatedDisk,
    say: Callable[[str], None] | None = None,
) -> Report:
    """Run a seed, and return its report, which names a broken promise or an exception."""
    history = History(say)
    failure = failure_of(lambda: _Run(seed, history, process, disk).play(steps))
    options = f" --steps {steps}" if steps != STEPS else ""
    return Report.of(seed, steps, [history], failure, options)


class _Run:
    """The site of one run with its applications, faults, history and witness."""

    def __init__(
        self, seed: int, history: History, process: type[Process], disk: type[SimulatedDisk]
    ) -> None:
        chance = SeededChance(seed)
        self.witness = Witness(history)
        self.history = history
        self._restores = restores.are_due(seed)
        self.around = Surroundings(
            scheduler=Scheduler(chance),
            chance=chance,
            faults=SiteFaults.drawn(chance),
            history=history,
            witness=self.witness,
            quota=chance.pick((None, None, 24)),
        )
        self.site = Site(self.around, QUEUES, process=process, disk=disk)
        self.feed_readers = [FeedReader(name, self.site.context) for name in ("lake", "audit")]

    def play(self, steps: int) -> None:
        """Start the manager, run the applications with faults, end the faults, and check all promises."""
        site, context = self.site, self.site.context
        site.host.boot()
        context.enter(Administrator("admin", context))
        site.until_applications_end("the queues could not be created")
        for kind, count in APPLICATIONS:
            for number in range(count):
                context.enter(kind(f"{kind.__name__.lower()}{number}", context))
        for reader in self.feed_readers:
            context.enter(reader)
        if self._restores:
            restores.run_with_restores(self.around.chance, [site.host], steps, self._until_turn)
        self._until_turn(steps)
        self._end_faults()
        site.process.checkpoint()
        self._drain()
        self._read_feeds()
        check_nothing_leaks(site.process.manager.state)
        site.process.checkpoint()
        check_history(self.history, self.witness.ledger, self.witness.replaced)
        site.restart()
        site.process.checkpoint()

    def _until_turn(self, turns: int) -> None:
        self.site.until(lambda: len(self.history.turns) >= turns, "the applications make no progress")

    def _end_faults(self) -> None:
        """End the faults, let all applications finish, and wait until locks and transactions time out."""
        self.around.faults.end()
        self.site.finish()
        self.around.scheduler.pass_time(MINUTE)
        self.site.until_idle()

    def _drain(self) -> None:
        """Receive all messages of all queues; repeat this while messages are transferred or delayed."""
        site = self.site
        site.read_to_the_end()
        for _ in range(ROUNDS):
            state = site.process.manager.state
            queues = state.queues.values()
            waiting = any(
                len(queue.order) or queue.counts.delayed or queue.delayed_express for queue in queues
            )
            if not waiting and not state.staging.stages:
                break
            site.host.calendar.jump(DAY)  # the calendar may have been set back while messages were delayed
            self.around.scheduler.pass_time(2 * MINUTE)
            site.read_to_the_end()

    def _read_feeds(self) -> None:
        """Let the consumers read their feeds to the end, and remove them."""
        for reader in self.feed_readers:
            self.site.context.enter(reader)
        self.site.until_applications_end("liveness: a feed cannot be read to its end")
        self.site.until_idle()

"""One run: a seed, its weather, its applications; then the sky clears, and everything must add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reliquary.base.time import DAY, MINUTE
from reliquary.queueing.queue import QueueType
from reliquary.sim.applications import Application, Stage
from reliquary.sim.chance import SeededChance
from reliquary.sim.checkers import check_history, check_nothing_leaks
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History, Violation
from reliquary.sim.host import Host
from reliquary.sim.keepers import SPARE, Administrator, Keeper, Mover, Steward
from reliquary.sim.network import Network
from reliquary.sim.process import Process, Surroundings
from reliquary.sim.readers import Browser, Drainer, Holder, Taker
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.senders import Latecomer, Producer, Traveller
from reliquary.sim.transactors import Coordinator, Impatient, Transactor
from reliquary.sim.weather import Weather
from reliquary.sim.witness import Witness

STEPS = 600
"""Turns of the manager before the sky clears."""
QUEUES = ("orders", "ledger", "inbox", "orders;retry", SPARE, f"{SPARE};part")
ROUNDS = 3
"""So often queues are read again in the end."""
CAST: tuple[tuple[type[Application], int], ...] = (
    (Producer, 3), (Latecomer, 1), (Traveller, 1), (Taker, 2), (Holder, 2), (Browser, 1),
    (Transactor, 2), (Impatient, 1), (Coordinator, 1), (Mover, 1), (Keeper, 1), (Steward, 1),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """How a run went."""

    seed: int
    steps: int
    failure: str
    """What was broken; empty when nothing was."""
    turns: int
    sent: int
    received: int
    lives: int
    failures: int
    checkpoints: int
    digest: str

    @property
    def command(self) -> str:
        """What repeats the run."""
        return f"./dev sim --seed {self.seed}" + (f" --steps {self.steps}" if self.steps != STEPS else "")

    def __str__(self) -> str:
        verdict = f"BROKEN: {self.failure}\n  again: {self.command}" if self.failure else "ok"
        return (
            f"seed {self.seed}: {self.turns} turns, {self.sent} sent, {self.received} received,"
            f" {self.lives} lives, {self.failures} disk failures, {self.checkpoints} checkpoints: {verdict}"
        )


def simulate(
    seed: int,
    steps: int = STEPS,
    *,
    process: type[Process] = Process,
    disk: type[SimulatedDisk] = SimulatedDisk,
    say: Callable[[str], None] | None = None,
) -> Report:
    """Run a seed.  Whatever breaks, a promise or the machine itself, is in the report."""
    history = History(say)
    failure = ""
    try:
        _Run(seed, history, process, disk).play(steps)
    except Violation as broken:
        failure = str(broken)
    except Exception as broken:  # noqa: BLE001 - the machine itself broke, and that is a finding
        failure = f"{type(broken).__name__}: {broken} ({_place(broken)})"
    return Report(
        seed=seed,
        steps=steps,
        failure=failure,
        turns=len(history.turns),
        sent=len(history.sendings),
        received=len(history.consumed),
        lives=history.lives,
        failures=history.failures,
        checkpoints=history.checkpoints,
        digest=history.digest,
    )


def _place(broken: BaseException) -> str:
    """Where it broke: the last three steps of the way there."""
    steps = []
    trace = broken.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        steps.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " > ".join(steps[-3:])


class _Run:
    """The parts of one run, put together."""

    def __init__(
        self, seed: int, history: History, process: type[Process], disk: type[SimulatedDisk]
    ) -> None:
        chance = SeededChance(seed)
        self.witness = Witness(history)
        self.history = history
        self.around = Surroundings(
            scheduler=Scheduler(chance),
            chance=chance,
            weather=Weather.drawn(chance),
            history=history,
            witness=self.witness,
            quota=chance.pick((None, None, 24)),
        )
        self.host = Host(self.around, process=process, disk=disk)
        network = Network(self.around.scheduler, chance, self.around.weather, self.host)
        self.stage = Stage(self.around, self.host, network, QUEUES)

    def play(self, steps: int) -> None:
        """From the first start to the last comparison."""
        self.host.boot()
        self.stage.enter(Administrator("admin", self.stage))
        self._until(self._nobody_acts, "the queues could not be created")
        for kind, count in CAST:
            for number in range(count):
                self.stage.enter(kind(f"{kind.__name__.lower()}{number}", self.stage))
        self._until(lambda: len(self.history.turns) >= steps, "the applications make no progress")
        self._clear_up()
        self._compare()
        self._drain()
        self._compare()
        check_history(self.history, self.witness.ledger)
        self._restart()

    def _clear_up(self) -> None:
        """Faults stop; everybody finishes; what was only held or begun comes back."""
        self.around.weather.clear_up()
        if self.host.process is not None:
            self.host.process.disk.mend()
        self.stage.finishing = True
        self._until(self._nobody_acts, "liveness: somebody never finishes")
        self._pass(MINUTE)
        self._until(lambda: self.host.ready and self._process.idle, "liveness: the server is never idle")

    def _drain(self) -> None:
        """Every queue is read to its end, and again while messages are on their way or delayed."""
        self._read_to_the_end()
        for _ in range(ROUNDS):
            queues = self._process.manager.state.queues.values()
            if not any(len(queue.order) or queue.delayed or queue.delayed_express for queue in queues):
                break
            self.host.calendar.jump(DAY)  # it may have been set back while messages were delayed
            self._pass(2 * MINUTE)
            self._read_to_the_end()
        check_nothing_leaks(self._process.manager.state)

    def _read_to_the_end(self) -> None:
        """Journals last, because reading fills them."""
        queues = self._process.manager.state.queues.values()
        records = [queue.record for queue in queues if queue.link is None]
        copies = [each for each in records if each.is_journal or each.kind is QueueType.SYSTEM]
        for these in ([each for each in records if each not in copies], copies):
            for record in these:
                if not record.pathname.endswith(("order-ack", "notification")):
                    self.stage.enter(Drainer(f"drainer{record.number}", self.stage, record.pathname))
            self._until(self._nobody_acts, "liveness: a queue cannot be read to its end")
        self._until(lambda: self._process.idle, "liveness: the server is never idle")

    def _restart(self) -> None:
        """A last stop in good order, and one more life."""
        lives = self.history.lives
        self._process.stop()
        self._until(lambda: self.host.ready and self.history.lives > lives, "the server does not start")
        self._compare()

    def _compare(self) -> None:
        self._process.checkpoint()

    @property
    def _process(self) -> Process:
        process = self.host.process
        assert process is not None, "no process runs"
        return process

    def _nobody_acts(self) -> bool:
        return not self.stage.acting

    def _until(self, done: Callable[[], bool], otherwise: str) -> None:
        scheduler = self.around.scheduler
        if not scheduler.run_until(done, latest=scheduler.now + 10 * MINUTE):
            raise Violation(f"{otherwise}: {sorted(self.stage.acting)}")

    def _pass(self, span: int) -> None:
        scheduler = self.around.scheduler
        end = scheduler.now + span
        scheduler.at(end, lambda: None)
        scheduler.run_until(lambda: scheduler.now >= end, latest=end)

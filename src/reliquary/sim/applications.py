"""Runs simulated applications: scripts that send requests, wait, pause, and record what the answers prove.

A script is a generator. It yields its next step and is resumed with the result:

    outcome = yield Call(lambda to: PurgeQueue(to, "orders"))     an answer, or nothing
    yield Pause(5 * MILLISECOND)
    yield Aside(make, on_outcome)      send on another line, and do not wait
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

from reliquary.base.hresult import HResult
from reliquary.base.time import MILLISECOND, Duration
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.host import Host
from reliquary.sim.ledger import ITSELF
from reliquary.sim.network import NOTHING, Line, Make, Network, Outcome
from reliquary.sim.process import Surroundings


@dataclass(frozen=True, slots=True)
class Call:
    """Send a request, and wait for the outcome."""

    make: Make


@dataclass(frozen=True, slots=True)
class CallWithoutWaiting:
    """Send a request on a second line, without waiting."""

    make: Make
    on_outcome: Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Pause:
    """Pause for this number of microseconds."""

    span: int


ScriptStep: TypeAlias = Call | CallWithoutWaiting | Pause
Result = TypeVar("Result")
Part: TypeAlias = Generator[ScriptStep, Outcome, Result]
"""A part of a script that returns a result."""
Script: TypeAlias = Generator[ScriptStep, Outcome, None]


@dataclass(slots=True)
class ApplicationContext:
    """The simulated server, network and queues that the applications work with."""

    around: Surroundings
    host: Host
    network: Network
    queues: Sequence[str]
    """The queues that messages are sent to and received from."""
    finishing: bool = False
    """Whether applications must finish the work that they have begun."""
    calls: int = 0
    acting: dict[str, Application] = field(default_factory=dict)

    def enter(self, application: Application) -> None:
        """Start the script of an application."""
        assert application.name not in self.acting, f"{application.name} acts already"
        self.acting[application.name] = application
        self._advance(application, application.script(), None)

    def _advance(self, application: Application, script: Script, outcome: Outcome | None) -> None:
        """Resume a script until its next step waits."""
        scheduler, go_on = self.around.scheduler, partial(self._advance, application, script)
        while True:
            try:
                step = next(script) if outcome is None else script.send(outcome)
            except StopIteration:
                del self.acting[application.name]
                return
            if isinstance(step, Pause):
                scheduler.after(step.span, partial(go_on, NOTHING))
                return
            self.calls += 1
            if isinstance(step, Call):
                self.network.call(application.line, step.make, go_on)
                return
            self.network.call(application.other_line, step.make, step.on_outcome)
            outcome = NOTHING


class Application:
    """Base class of simulated applications that use queues."""

    def __init__(self, name: str, context: ApplicationContext) -> None:
        self.name = name
        self.context = context
        self.chance = context.around.chance
        self.history = context.around.history
        self.line = Line()
        self.other_line = Line()
        self._sent = 0

    def script(self) -> Script:
        """Act until the context announces that it is time to finish."""
        while not self.context.finishing:
            yield from self.act()
            yield from self.rest()

    def act(self) -> Script:
        """Perform one round of the application."""
        raise NotImplementedError

    def rest(self) -> Script:
        """Do nothing for a random time."""
        yield Pause(self.chance.between(1, self.context.around.faults.longest_pause))

    def a_queue(self) -> str:
        """Return one of the queues at random."""
        return self.chance.pick(self.context.queues)

    def a_while(self, longest: int = 300) -> Duration:
        """Return a random span of 1 to `longest` milliseconds."""
        return Duration(self.chance.between(1, longest) * MILLISECOND)

    def ask_until_answered(self, make: Make) -> Part[Outcome]:
        """Repeat a request until an answer arrives."""
        while True:
            outcome: Outcome = yield Call(make)
            self.note(outcome)
            if outcome.answer is not None:
                return outcome
            yield from self.rest()

    def own(self, messages: Sequence[Delivered]) -> list[bytes]:
        """Return the bodies of messages that are neither copies of others nor acknowledgements."""
        copies = self.context.around.witness.ledger.copies
        return [
            each.message.body
            for each in messages
            if each.position.reason in ITSELF
            and each.position.lookup_id not in copies
            and each.message.message_class == MessageClass.NORMAL
        ]

    def note(self, outcome: Outcome) -> None:
        """Record an outcome in the history of the run."""
        answer = outcome.answer
        said = "nothing" if answer is None else f"{answer.status.name} from turn {outcome.turn}"
        self.history.note(self.context.around.scheduler.now, f"{self.name} receives {said}")


def succeeded(outcome: Outcome) -> bool:
    """Return whether an answer arrived and its status is OK."""
    return outcome.answer is not None and outcome.answer.status is HResult.OK


def answer_of(outcome: Outcome) -> Any:
    """Return the answer of an outcome that has one."""
    assert outcome.answer is not None
    return outcome.answer

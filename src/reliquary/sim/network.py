"""Simulates the network between applications and the server.

Each application has a line of its own, on which requests and answers keep their order; there is no order
between two lines.  A request may never arrive, an answer may get lost, a connection may be cut while its
owner waits.  In all these cases the owner gets no outcome, and knows that it got none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from reliquary.base.time import MILLISECOND, SECOND
from reliquary.base.turn import Event
from reliquary.queueing.model.events import CallerGone
from reliquary.sim.chance import SeededChance
from reliquary.sim.host import Host
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.site_faults import SiteFaults

PATIENCE = 2 * SECOND
"""The time that an application waits for an answer that was lost."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a caller: the answer and the turn that made it, or neither."""

    answer: Any = None
    turn: int = -1


NOTHING = Outcome()
Make = Callable[[int], Event]
"""Makes the event with the number of a caller."""


@dataclass(slots=True)
class Line:
    """The connection of one application."""

    last_arrival: int = 0
    last_answer: int = 0


@dataclass(slots=True)
class _Call:
    line: Line
    make: Make
    on_outcome: Callable[[Outcome], None]
    answer_is_lost: bool
    process: Process | None = None
    caller: int = 0
    answered: bool = False
    over: bool = False


class Network:
    """Carries calls of applications to the simulated server and answers back, with faults."""

    def __init__(self, scheduler: Scheduler, chance: SeededChance, faults: SiteFaults, host: Host) -> None:
        self._scheduler = scheduler
        self._chance = chance
        self._faults = faults
        self._host = host
        self._open: dict[int, _Call] = {}
        self._count = 0
        host.on_end.append(self._reset)

    def call(self, line: Line, make: Make, on_outcome: Callable[[Outcome], None]) -> None:
        """Send a request to the server; `on_outcome` is called exactly once with the outcome."""
        call = _Call(line, make, on_outcome, self._chance.happens(self._faults.answer_lost))
        if self._chance.happens(self._faults.request_lost):
            self._scheduler.after(PATIENCE, partial(self._finish, call, NOTHING))
            return
        line.last_arrival = max(line.last_arrival + 1, self._scheduler.now + self._delay())
        self._scheduler.at(line.last_arrival, partial(self._arrive, call))

    def _delay(self) -> int:
        return self._chance.between(20, self._faults.slowest_network)

    def _arrive(self, call: _Call) -> None:
        process = self._host.process
        if process is None or not process.accepting:
            self._scheduler.after(self._delay() + 5 * MILLISECOND, partial(self._finish, call, NOTHING))
            return
        self._count += 1
        number = self._count
        self._open[number] = call
        call.process = process
        call.caller = process.caller(partial(self._answer, number))
        process.submit(call.make(call.caller))
        if self._chance.happens(self._faults.cut):
            self._scheduler.after(self._chance.between(1, 200 * MILLISECOND), partial(self._cut, number))

    def _answer(self, number: int, answer: Any, turn: int) -> None:
        call = self._open.pop(number, None)
        if call is None:
            return
        call.answered = True
        if call.answer_is_lost:
            self._scheduler.after(PATIENCE, partial(self._finish, call, NOTHING))
            return
        line = call.line
        line.last_answer = max(line.last_answer + 1, self._scheduler.now + self._delay())
        self._scheduler.at(line.last_answer, partial(self._finish, call, Outcome(answer, turn)))

    def _cut(self, number: int) -> None:
        """Break the connection; the server mostly notices it."""
        call = self._open.pop(number, None)
        if call is None or call.process is None:
            return
        self._finish(call, NOTHING)
        if call.process.alive and self._chance.happens(0.8):
            call.process.forget(call.caller)
            call.process.submit(CallerGone(call.caller))

    def _reset(self, process: Process) -> None:
        """End all connections of a process that has ended: applications that waited get no outcome."""
        for number, call in list(self._open.items()):
            if call.process is process:
                del self._open[number]
                self._scheduler.after(self._delay(), partial(self._finish, call, NOTHING))

    def _finish(self, call: _Call, outcome: Outcome) -> None:
        if not call.over:
            call.over = True
            call.on_outcome(outcome)

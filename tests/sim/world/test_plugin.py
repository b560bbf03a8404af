"""Tests a protocol with only the required methods: the plugin's defaults are enough to check it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

import pytest

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.base.turn import Effect, Reply
from reliquary.engine.core import Batch
from reliquary.queueing.model.names.formats import DirectName, parse_single
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.travel.transfer import ArrivalJudged, Outcome
from reliquary.sim.process import Process
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.requests import Ending, Request
from reliquary.sim.world.run import simulate
from tests.contributing import ferry as toy
from tests.contributing.ferry import Carried, Carry, CarryEnded, Ferry, State, ferry

SEEDS = range(1, 5)
MUTANT_SEEDS = range(1, 41)


class FerryPlugin(Plugin):
    """The parts of the ferry protocol that the world needs."""

    name: ClassVar[str] = "ferry"

    def protocol(self, site: str) -> Protocol:
        del site
        return ferry()

    def request(self, effect: Effect) -> Request:
        assert isinstance(effect, Carry)
        name = parse_single(effect.destination)
        assert isinstance(name, DirectName)
        return Request(
            server=name.host,
            arrives=lambda to: Carried(to, effect.destination, effect.message),
            ended=partial(ended, effect),
        )

    def queue_name(self, site: str, queue: str) -> str:
        return f"DIRECT=FERRY://{site}/private$/{queue}"

    def durable_state(self, state: State) -> Mapping[str, object]:
        return {"delivered": state.delivered}


def ended(carry: Carry, ending: Ending) -> CarryEnded:
    return CarryEnded(carry.queue, carry.lookup_id, ending.answer is Outcome.DELIVERED)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_small_protocol_keeps_its_promises(seed: int) -> None:
    report = simulate(seed, [FerryPlugin])
    assert not report.failure, str(report)
    assert report.received


class AcceptsTwice(Ferry):
    """Does not recognise messages that it has delivered."""

    def knows(self, key: bytes) -> bool:
        del key
        return False


class AcceptsNothing(Ferry):
    """Confirms messages and does not store them."""

    def knows(self, key: bytes) -> bool:
        del key
        return True


class Forgets(Ferry):
    """A faulty ferry that does not store what it has judged."""

    def on_judged(self, state: State, signal: ArrivalJudged, now: Instant) -> None:
        del now
        to, key = state.arriving.pop(signal.ticket[0])
        state.delivered.add(key)
        state.draft.ask(Reply(to, signal.outcome))


class NeverRetries(Ferry):
    """Does not react to a failed attempt."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self._rules = {**self._rules, CarryEnded: self.on_ended}

    def on_ended(self, state: State, event: CarryEnded, now: Instant) -> None:
        if event.delivered:
            toy.on_ended(state, event, now)


class LeavesEarly(Process):
    """Performs effects before their batch is on disk."""

    def _settle(self, batch: Batch) -> None:
        self._perform(batch.after_sync)
        batch.after_sync = []
        super()._settle(batch)


@pytest.mark.parametrize(
    ("machine", "process", "failure"),
    [
        (AcceptsTwice, Process, "duplication"),
        (AcceptsNothing, Process, "loss"),
        (Forgets, Process, "recovery"),
        (NeverRetries, Process, "left behind"),
        (Ferry, LeavesEarly, "visible too early"),
    ],
)
def test_the_default_checks_find_a_broken_protocol(
    machine: type[Ferry], process: type[Process], failure: str
) -> None:
    class Broken(FerryPlugin):
        def protocol(self, site: str) -> Protocol:
            del site
            return ferry(machine)

    reports = (simulate(seed, [Broken], process=process) for seed in MUTANT_SEEDS)
    found = next((report.failure for report in reports if report.failure), "nothing was found")
    assert found.startswith(failure), found

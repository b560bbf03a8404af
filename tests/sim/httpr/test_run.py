"""A run of several sites that use HTTPR, as a whole: it repeats itself, and does a little of everything."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from reliquary.protocols.httpr import facts as httpr
from reliquary.protocols.httpr.codec.values import Command, ErrorNumber, Outcome
from reliquary.protocols.httpr.events import (
    Answer,
    Failure,
    RequestArrived,
    RequestBegun,
    RequestFailed,
    ResponseArrived,
)
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.__main__ import main
from reliquary.sim.httpr.plan import ExchangeMode
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.world.run import World
from reliquary.sim.world.run import simulate as simulate_world
from reliquary.sim.world.witness import SiteWitness
from tests.sim.test_run import broken

simulate = partial(simulate_world, plugins=[HttprPlugin])


@pytest.mark.long
def test_runs_do_a_little_of_everything() -> None:
    facts: Counter[str] = Counter()
    commands: Counter[Command] = Counter()
    errors: Counter[int] = Counter()
    failures: Counter[Failure] = Counter()
    reasons: Counter[MessageClass] = Counter()
    ways: Counter[ExchangeMode] = Counter()
    outcomes: Counter[Outcome] = Counter()
    begun = late = deepest = 0
    for seed in range(6, 36):
        plugin = HttprPlugin()
        run = World(seed, [lambda: plugin])  # noqa: B023
        run.play(run.steps)
        ways.update(plugin.plan.ways.values())
        for site in run.register.sites.values():
            reasons.update(reason for _, reason in site.ledger.left.values())
            for turned in site.history.turns:
                facts.update(type(fact).__name__ for fact in turned.facts)
                outcomes.update(
                    fact.outcome for fact in turned.facts if isinstance(fact, httpr.BatchReceived)
                )
                match turned.event:
                    case RequestArrived(header=header) if header is not None:
                        commands[header.command] += 1
                    case RequestBegun():
                        begun += 1
                    case RequestFailed(failure=failure):
                        failures[failure] += 1
                    case _:
                        pass
                for _, answer in turned.answers:
                    if isinstance(answer, Answer) and answer.header.error is not None:
                        errors[answer.header.error.number] += 1
                        late += answer.why.startswith("a later connection")
                prepared = sum(isinstance(fact, httpr.BatchPrepared) for fact in turned.facts)
                deepest = max(deepest, prepared if isinstance(turned.event, ResponseArrived) else 0)
    stated = {each.__name__ for each in (httpr.ChannelOpened, httpr.SessionNumbered, httpr.BatchPrepared,
              httpr.BatchesSettled, httpr.BatchReceived, httpr.PeerReported, httpr.FetchingSeen,
              httpr.SideForgotten)}  # fmt: skip
    assert stated <= facts.keys()
    assert {"ReservationBegun", "ReservationsOver"} <= facts.keys()
    assert commands.keys() == set(Command)
    assert ways.keys() == set(ExchangeMode)
    assert {Failure.LOST, Failure.TIMED_OUT, Failure.NOT_HTTPR, Failure.NO_CONNECTION} <= failures.keys()
    assert {Outcome.COMMIT, Outcome.ROLLBACK} <= outcomes.keys()
    assert {
        ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE,
        ErrorNumber.SINK_NOT_KNOWN,
        ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED,
        ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED,
    } <= errors.keys()
    assert {MessageClass.ACK_RECEIVE, MessageClass.NACK_BAD_DEST_QUEUE} <= reasons.keys()
    assert begun
    assert late
    assert deepest > 1


def test_a_failure_names_the_promise_and_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SiteWitness, "compare_machines", broken)
    report = simulate(5)
    assert report.failure == "a checker saw something"
    assert report.command == "./dev sim --seed 5 --world httpr"
    assert main(["--seed", "5", "--world", "httpr"]) == 1
    assert "again: ./dev sim --seed 5 --world httpr" in capsys.readouterr().out

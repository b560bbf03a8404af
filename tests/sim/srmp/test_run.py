"""Tests a run of several sites: it can be repeated, and meets each kind of event."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from reliquary.protocols.srmp.events import PostAnswer, PostArrived, PostEnded
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.__main__ import main
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.run import World
from reliquary.sim.world.run import simulate as simulate_world
from reliquary.sim.world.witness import SiteWitness
from reliquary.streams import facts as streams
from tests.sim.test_run import broken

simulate = partial(simulate_world, plugins=[SrmpPlugin])


def test_runs_do_a_little_of_everything() -> None:
    events: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    failures: Counter[object] = Counter()
    reasons: Counter[MessageClass] = Counter()
    for seed in range(1, 13):
        run = World(seed, [SrmpPlugin])
        run.play(run.steps)
        for site in run.register.sites.values():
            reasons.update(reason for _, reason in site.ledger.left.values())
            for turned in site.history.turns:
                events.update(type(fact).__name__ for fact in turned.facts)
                if isinstance(turned.event, PostEnded):
                    failures[turned.event.failure] += 1
                if isinstance(turned.event, PostArrived):
                    statuses.update(each.status for _, each in turned.answers if isinstance(each, PostAnswer))
    stated = {
        streams.StreamBegun, streams.MessagesNumbered, streams.StreamAcknowledged, streams.NumbersFreed,
        streams.StreamStarted, streams.StreamEnded, streams.StreamAdvanced, streams.IdentifierRemembered,
    }  # fmt: skip
    assert {each.__name__ for each in stated} <= events.keys()
    assert {200, 400, 500} <= statuses.keys()
    assert len(failures) > 3
    assert {MessageClass.ACK_RECEIVE, MessageClass.NACK_QUEUE_PURGED} <= reasons.keys()


def test_a_failure_names_the_promise_and_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SiteWitness, "compare_machines", broken)
    report = simulate(5)
    assert report.failure == "a checker saw something"
    assert report.command == "./dev sim --seed 5 --world srmp"
    assert simulate(5, steps=90).command == "./dev sim --seed 5 --world srmp --steps 90"
    assert main(["--seed", "5", "--world", "srmp"]) == 1
    assert "again: ./dev sim --seed 5 --world srmp" in capsys.readouterr().out


def test_the_command_can_print_the_steps_of_each_site(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "3", "--world", "srmp", "--steps", "50", "--verbose"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"a", "b"} <= {line.partition(" ")[0] for line in lines}

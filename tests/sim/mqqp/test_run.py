"""A run of several sites that use MQQP, as a whole: it does a little of everything."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from reliquary.protocols.mqqp import events
from reliquary.protocols.mqqp.client import facts
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.queueing.travel.failures import Failure
from reliquary.sim.__main__ import main
from reliquary.sim.mqqp.plugin import MqqpPlugin
from reliquary.sim.world.run import World
from reliquary.sim.world.run import simulate as simulate_world
from reliquary.sim.world.witness import SiteWitness
from tests.sim.test_run import broken, hashed_in_two_ways

simulate = partial(simulate_world, plugins=[MqqpPlugin])


@pytest.mark.long
def test_runs_do_a_little_of_everything() -> None:
    stated: Counter[type] = Counter()
    happened: Counter[type] = Counter()
    requests: Counter[type] = Counter()
    actions: Counter[int] = Counter()
    ends: Counter[int] = Counter()
    statuses: Counter[int] = Counter()
    failures: Counter[Failure] = Counter()
    read: Counter[str] = Counter()
    for seed in range(30, 56):
        plugin = MqqpPlugin()
        run = World(seed, [lambda: plugin])  # noqa: B023
        run.play(run.steps)
        read["acknowledged"] += len(plugin.readings.acknowledged)
        read["given back"] += sum(count > 1 for count in plugin.readings.handed_out.values())
        read["in order"] += sum(map(len, plugin.readings.orders.values()))
        for site in run.register.sites.values():
            for turned in site.history.turns:
                stated.update(type(fact) for fact in turned.facts)
                event = turned.event
                happened[type(event)] += 1
                match event:
                    case events.ClientCalled():
                        requests[type(event.request)] += 1
                        descriptor = getattr(event.request, "read", None)
                        if descriptor is not None:
                            actions[descriptor.action] += 1
                        if isinstance(event.request, qm2qm.EndReceive):
                            ends[event.request.acknowledge] += 1
                    case events.ServerResponded():
                        statuses[getattr(event.response, "status", 0)] += 1
                    case events.LinkLost():
                        failures[event.failure] += 1
                    case _:
                        pass
    assert set(vars_of(events)) <= happened.keys()
    assert requests.keys() >= {
        qmcomm.OpenRemoteQueue,
        qmcomm.CloseRemoteQueueContext,
        qmcomm.CreateRemoteCursor,
        qm2qm.EndReceive,
        qm2qm.OpenQueue,
        qm2qm.CloseQueue,
        qm2qm.CloseCursor,
        qm2qm.CancelReceive,
        qm2qm.PurgeQueue,
        qm2qm.GetServerPort,
        qm2qm.GetVersion,
        qm2qm.StartReceive,
        qm2qm.StartReceive2,
        qm2qm.StartReceiveByLookupId,
    }
    assert actions.keys() >= set(qm2qm.Action)
    assert ends.keys() == set(qm2qm.Acknowledge)
    assert len(statuses) > 5
    assert failures.keys() >= {Failure.NO_ADDRESS, Failure.NO_CONNECTION, Failure.LOST, Failure.TIMED_OUT}
    assert stated[facts.MessageDoubted]
    assert min(read.values()) > 20


def vars_of(module: object) -> list[type]:
    """Return the events that a module defines."""
    found = [each for each in vars(module).values() if isinstance(each, type)]
    return [each for each in found if each.__module__ == events.__name__]


def test_a_seed_does_not_depend_on_how_strings_are_hashed() -> None:
    code = (
        "from reliquary.sim.mqqp.plugin import MqqpPlugin; from reliquary.sim.world.run import simulate;"
        " print(simulate(3, [MqqpPlugin], 200).digest)"
    )
    assert len(hashed_in_two_ways(code)) == 1


def test_a_failure_names_the_promise_and_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SiteWitness, "compare_machines", broken)
    report = simulate(5)
    assert report.failure == "a checker saw something"
    assert report.command == "./dev sim --seed 5 --world mqqp"
    assert main(["--seed", "5", "--world", "mqqp"]) == 1
    assert "again: ./dev sim --seed 5 --world mqqp" in capsys.readouterr().out

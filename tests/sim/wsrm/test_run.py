"""A run of several sites that use WS-RM, as a whole: it does a little of everything."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from reliquary.protocols.wsrm.codec.values import Dialect, Fault
from reliquary.protocols.wsrm.destination import facts as destination
from reliquary.protocols.wsrm.events import PostAnswer, PostArrived, PostEnded
from reliquary.protocols.wsrm.source import facts as source
from reliquary.sim.__main__ import main
from reliquary.sim.world.run import World
from reliquary.sim.world.run import simulate as simulate_world
from reliquary.sim.world.witness import SiteWitness
from reliquary.sim.wsrm.plugin import WsrmPlugin
from tests.sim.test_run import broken

simulate = partial(simulate_world, plugins=[WsrmPlugin])


@pytest.mark.long
def test_runs_do_a_little_of_everything() -> None:
    facts: Counter[type] = Counter()
    bodies: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    failures: Counter[object] = Counter()
    dialects: Counter[Dialect] = Counter()
    buffers: Counter[int] = Counter()
    alone = polls = 0
    for seed in range(1, 31):
        plugin = WsrmPlugin()
        run = World(seed, [lambda: plugin])  # noqa: B023
        run.play(run.steps)
        for site in run.register.sites.values():
            for turned in site.history.turns:
                facts.update(type(fact) for fact in turned.facts)
                if isinstance(turned.event, PostEnded):
                    failures[turned.event.failure] += 1
                answers = [each for _, each in turned.answers if isinstance(each, PostAnswer)]
                arrived = [turned.event] if isinstance(turned.event, PostArrived) else []
                both: list[PostArrived | PostAnswer] = [*arrived, *answers]
                for carried in both:
                    envelope = plugin.envelopes.read(carried)
                    if envelope is None:
                        continue
                    dialects[envelope.dialect] += 1
                    bodies[type(envelope.body).__name__] += 1
                    buffers.update(each.buffer for each in envelope.acknowledgements)
                    if isinstance(envelope.body, Fault):
                        faults[envelope.body.code.value] += 1
                for event in arrived:
                    envelope = plugin.envelopes.read(event)
                    assert envelope is not None
                    alone += envelope.sequence is None and bool(envelope.acknowledgements)
                    polls += envelope.sequence is None and bool(envelope.ack_requests)
    assert {
        destination.SequenceOpened,
        destination.MessageReceived,
        destination.MessageBuffered,
        destination.BufferReleased,
        destination.SequenceClosed,
        destination.SequenceEnded,
        source.SequenceBegun,
        source.SequenceCreated,
        source.MessagesNumbered,
        source.NumbersAcknowledged,
        source.MessagesWithdrawn,
        source.SequenceClosing,
        source.SequenceDecided,
        source.SequenceEnded,
    } <= facts.keys()
    assert {
        "CreateSequence",
        "CreateSequenceResponse",
        "CloseSequence",
        "CloseSequenceResponse",
        "TerminateSequence",
        "TerminateSequenceResponse",
        "Payload",
        "Fault",
    } <= bodies.keys()
    assert "SequenceTerminated" in faults
    assert len(dialects) == 8
    assert buffers[0]
    assert len(buffers) > 8
    assert alone
    assert polls
    assert len(failures) > 3


def test_a_failure_names_the_promise_and_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SiteWitness, "compare_machines", broken)
    report = simulate(5)
    assert report.failure == "a checker saw something"
    assert report.command == "./dev sim --seed 5 --world wsrm"
    assert main(["--seed", "5", "--world", "wsrm"]) == 1
    assert "again: ./dev sim --seed 5 --world wsrm" in capsys.readouterr().out

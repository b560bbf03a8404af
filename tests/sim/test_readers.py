"""Tests that applications use each way of reading, and record the messages that they own."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.queueing.model.events import EndRead, ReceiveMessages
from reliquary.sim.readers import Browser, Drainer, PlainReceiver, TrialReceiver
from reliquary.sim.senders import Producer
from tests.sim.simulated_server import SimulatedServer


def test_a_plain_receiver_has_what_it_receives() -> None:
    server = SimulatedServer()
    server.rounds(Producer("producer", server.context), PlainReceiver("receiver", server.context))
    assert len(server.history.consumed) > 20
    assert server.history.intended == set()


def test_a_trial_receiver_acknowledges_gives_back_and_forgets() -> None:
    server = SimulatedServer()
    server.rounds(Producer("producer", server.context), TrialReceiver("trial", server.context), turns=400)
    ends = [turned.event for turned in server.history.turns if isinstance(turned.event, EndRead)]
    assert {event.delete for event in ends} == {True, False}
    chained = [
        turned.event
        for turned in server.history.turns
        if isinstance(turned.event, ReceiveMessages) and turned.event.acknowledge
    ]
    assert chained
    assert set(server.history.consumed) <= server.history.intended
    assert len(server.history.consumed) > 10


def test_a_browser_peeks_looks_up_and_walks() -> None:
    server = SimulatedServer()
    server.rounds(Producer("producer", server.context), Browser("browser", server.context), turns=400)
    assert {"BrowseMessages", "LookUpMessage", "OpenCursor", "PeekMessage", "CloseQueue"} <= server.events()
    at_cursors = [
        turned.event
        for turned in server.history.turns
        if isinstance(turned.event, ReceiveMessages) and turned.event.cursor
    ]
    assert {bool(event.hold) for event in at_cursors} == {True, False}


@pytest.mark.parametrize("seed", range(3))
def test_a_drainer_leaves_nothing_in_its_queue(seed: int) -> None:
    server = SimulatedServer(seed)
    server.rounds(Producer("producer", server.context), turns=50)
    server.passes(5 * SECOND)  # what was delayed is there then
    for number, path in enumerate(server.context.queues):
        server.play(Drainer(f"drainer{number}", server.context, path))
    state = server.process.manager.state
    for path in server.context.queues:
        assert len(state.queues[state.names.by_path[f"private$\\{path}"]].order) == 0

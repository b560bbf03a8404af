"""Tests a site: it is started, runs until it has no work, is read to its end, and is started again."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.events import FOREVER_WAIT, ReceiveMessages
from reliquary.sim.applications import Application, Call, Script
from reliquary.sim.history import Violation
from reliquary.sim.senders import Producer
from tests.sim.simulated_server import SimulatedServer


class WaitsForever(Application):
    """Waits for a message that never comes."""

    def script(self) -> Script:
        yield Call(lambda to: ReceiveMessages(to, "orders", timeout=FOREVER_WAIT))


def test_an_application_that_never_finishes_is_named() -> None:
    server = SimulatedServer()
    server.context.enter(WaitsForever("sleeper", server.context))
    with pytest.raises(Violation, match=r"an application never finishes: \['sleeper'\]"):
        server.site.finish()


def test_queues_are_read_to_their_end() -> None:
    server = SimulatedServer(3)
    server.rounds(Producer("producer", server.context), turns=30)
    assert server.history.consumed == {}
    server.site.read_to_the_end()
    assert server.history.consumed
    queues = server.process.manager.state.queues.values()
    assert not any(len(queue.order) for queue in queues)


def test_after_a_restart_another_process_runs() -> None:
    server = SimulatedServer()
    server.site.restart()
    assert server.history.processes == 2
    assert server.site.process is server.host.process

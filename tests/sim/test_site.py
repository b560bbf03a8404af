"""A site: started, left alone until it is done, read to its end, started again."""

from __future__ import annotations

import pytest

from reliquary.queueing.events import FOREVER_WAIT, ReceiveMessages
from reliquary.sim.applications import Application, Call, Script
from reliquary.sim.history import Violation
from reliquary.sim.senders import Producer
from tests.sim.theatre import Theatre


class Sleeper(Application):
    """Waits for a message that nobody sends."""

    def script(self) -> Script:
        yield Call(lambda to: ReceiveMessages(to, "orders", timeout=FOREVER_WAIT))


def test_whoever_never_finishes_is_named() -> None:
    theatre = Theatre()
    theatre.stage.enter(Sleeper("sleeper", theatre.stage))
    with pytest.raises(Violation, match=r"somebody never finishes: \['sleeper'\]"):
        theatre.site.clear_up()


def test_queues_are_read_to_their_end() -> None:
    theatre = Theatre(3)
    theatre.rounds(Producer("producer", theatre.stage), turns=30)
    assert theatre.history.consumed == {}
    theatre.site.read_to_the_end()
    assert theatre.history.consumed
    queues = theatre.process.manager.state.queues.values()
    assert not any(len(queue.order) for queue in queues)


def test_after_a_restart_another_process_runs() -> None:
    theatre = Theatre()
    theatre.site.restart()
    assert theatre.history.lives == 2
    assert theatre.site.process is theatre.host.process

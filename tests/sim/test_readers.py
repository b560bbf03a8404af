"""Applications that read: each way of reading is used, and what is theirs is noted."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.queueing.events import EndRead, ReceiveMessages
from reliquary.sim.readers import Browser, Drainer, Holder, Taker
from reliquary.sim.senders import Producer
from tests.sim.theatre import Theatre


def test_a_taker_has_what_it_receives() -> None:
    theatre = Theatre()
    theatre.rounds(Producer("producer", theatre.stage), Taker("taker", theatre.stage))
    assert len(theatre.history.consumed) > 20
    assert theatre.history.intended == set()


def test_a_holder_acknowledges_gives_back_and_forgets() -> None:
    theatre = Theatre()
    theatre.rounds(Producer("producer", theatre.stage), Holder("holder", theatre.stage), turns=400)
    ends = [turned.event for turned in theatre.history.turns if isinstance(turned.event, EndRead)]
    assert {event.delete for event in ends} == {True, False}
    chained = [
        turned.event
        for turned in theatre.history.turns
        if isinstance(turned.event, ReceiveMessages) and turned.event.acknowledge
    ]
    assert chained
    assert set(theatre.history.consumed) <= theatre.history.intended
    assert len(theatre.history.consumed) > 10


def test_a_browser_peeks_looks_up_and_walks() -> None:
    theatre = Theatre()
    theatre.rounds(Producer("producer", theatre.stage), Browser("browser", theatre.stage), turns=400)
    assert {"BrowseMessages", "LookUpMessage", "OpenCursor", "PeekMessage", "CloseQueue"} <= theatre.events()
    at_cursors = [
        turned.event
        for turned in theatre.history.turns
        if isinstance(turned.event, ReceiveMessages) and turned.event.cursor
    ]
    assert {bool(event.hold) for event in at_cursors} == {True, False}


@pytest.mark.parametrize("seed", range(3))
def test_a_drainer_leaves_nothing_in_its_queue(seed: int) -> None:
    theatre = Theatre(seed)
    theatre.rounds(Producer("producer", theatre.stage), turns=50)
    theatre.passes(5 * SECOND)  # what was delayed is there then
    for number, path in enumerate(theatre.stage.queues):
        theatre.play(Drainer(f"drainer{number}", theatre.stage, path))
    state = theatre.process.manager.state
    for path in theatre.stage.queues:
        assert len(state.queues[state.names[f"private$\\{path}"]].order) == 0

"""Outgoing queues as a noun: what is declared is what the views and the manager know."""

from __future__ import annotations

from typing import TypeVar

from reliquary.queueing.model.administration import View
from reliquary.queueing.model.events import PauseQueue, ResumeQueue
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.travel.nouns import OUTGOING
from tests.queueing.exchange import ELSEWHERE, Exchange

M = TypeVar("M")


class Machines:
    """A manager without protocols."""

    def __init__(self, exchange: Exchange) -> None:
        self.state: State = exchange.state

    def machine(self, kind: type[M]) -> M:
        raise AssertionError(f"no outgoing queue needs a {kind}")


def test_it_is_listed_and_found_by_its_destination() -> None:
    exchange = Exchange()
    view = View(Machines(exchange), MANAGER)
    assert OUTGOING.showing is not None
    assert OUTGOING.showing.record(view, ELSEWHERE) is None
    exchange.send(ELSEWHERE, b"one")
    [listed] = OUTGOING.listing.records(view)
    assert listed.destination == ELSEWHERE
    assert OUTGOING.showing.record(view, ELSEWHERE) == listed


def test_it_is_paused_and_resumed() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"one")
    pause, resume = (OUTGOING.act(verb).event(0, ELSEWHERE) for verb in ("pause", "resume"))
    assert (pause, resume) == (PauseQueue(0, ELSEWHERE), ResumeQueue(0, ELSEWHERE))
    exchange.ask(pause)
    [listed] = OUTGOING.listing.records(View(Machines(exchange), MANAGER))
    assert listed.state == OutgoingState.ON_HOLD.value

"""Sends requests to the queue manager (`queueing/model/travel/asking.py`)."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Event
from reliquary.protocols.mqqp.reader import NAME
from reliquary.protocols.mqqp.server.state import Asked
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.travel.asking import RequestMade


class Unattended(Asked):
    """A request whose answer changes nothing."""

    __slots__ = ()


def number_for(state: State, asked: Asked) -> int:
    """Return the number for a request; its answer is passed to the rule for `asked`."""
    server = state.server
    server.last_caller -= 1
    server.asked[server.last_caller] = asked
    return server.last_caller


def ask(state: State, request: Event, peer: str = "") -> None:
    """Send a request to the queue manager; its answer follows in this turn, or later for reads and purges."""
    state.draft.signal(RequestMade(NAME, request, peer))


def on_unattended(state: State, asked: Unattended, answer: Answer, now: Instant) -> None:
    """Ignore an answer that no call waits for."""
    del state, asked, answer, now

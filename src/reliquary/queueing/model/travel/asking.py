"""Requests that a protocol makes for its clients: the manager hears and answers them inside the turn.

    client elsewhere --> protocol --RequestMade--> manager
                         protocol <--RequestAnswered--     in the same turn; a read that waits: in a later one

The answer is a signal and not an effect, so that what the protocol then sends waits for the disk exactly as
an answer to an application does: the facts of both are one write.  The callers of protocols have negative
numbers, which no application ever has.
"""

from __future__ import annotations

from reliquary.base.turn import DirectedSignal, Event, Signal
from reliquary.queueing.model.events import Answer


class RequestMade(Signal, frozen=True):
    """A protocol asks for something; requests about queues of other managers are not handed on."""

    machine: str
    """The protocol that hears the answer."""
    request: Event
    """A `Request` whose `to` is negative and unique, or `CallerGone` for one."""
    peer: str = ""
    """For whom it asks, for the history."""


class RequestAnswered(DirectedSignal, frozen=True):
    """What the manager answers."""

    caller: int
    answer: Answer

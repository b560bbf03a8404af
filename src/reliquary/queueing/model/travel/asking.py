"""Defines the signals with which a protocol makes requests for its clients, and the manager answers them.

    client elsewhere --> protocol --RequestMade--> manager
                         protocol <--RequestAnswered--     in that turn; for a read that waits, in a later one

The answer is a signal and not an effect, so that the facts of manager and protocol are stored in one write,
and the reply to the client waits for the disk as an answer to an application does.  The caller numbers of
protocols are negative; those of applications never are.
"""

from __future__ import annotations

from reliquary.base.turn import DirectedSignal, Event, Signal
from reliquary.queueing.model.events import Answer


class RequestMade(Signal, frozen=True):
    """A protocol makes a request for a client; a request for a queue of another manager is not passed on."""

    machine: str
    """The name of the protocol's machine, which gets the answer."""
    request: Event
    """A `Request` whose `to` is negative and unique, or `CallerGone` with that number."""
    peer: str = ""
    """The client's address, as the history shows it."""


class RequestAnswered(DirectedSignal, frozen=True):
    """The manager answers a request of a protocol."""

    caller: int
    answer: Answer

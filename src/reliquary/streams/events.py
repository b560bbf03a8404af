"""Defines the event with which an administrator resets a stream.

It has a module of its own, so that the command line can name it without loading the state of the manager.
"""

from __future__ import annotations

from reliquary.base.turn import Event


class ResetStream(Event, frozen=True):
    """Reset a stream that cannot continue, on the order of an administrator.

    Each protocol has an event class of its own, so that the event reaches the machine of the stream.
    """

    to: int
    stream: str
    """The name of the stream: `out-` or `in-` and a suffix."""
    renumber: bool = False
    """For an outgoing stream: unconfirmed messages are sent again under new numbers, else they become dead
    letters.
    """

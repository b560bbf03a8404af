"""The event by which an administrator resets a stream.

It has a module of its own, so that the command line can name it without loading the state of the manager.
"""

from __future__ import annotations

from reliquary.base.turn import Event


class ResetStream(Event, frozen=True):
    """Give up what a stream knows, in place of a peer that cannot go on with it.

    Each protocol has an event of its own kind, so that it comes to the machine that has the stream.
    """

    to: int
    stream: str
    """The name of the stream: `out-` or `in-` and a suffix."""
    renumber: bool = False
    """For an outgoing stream: unconfirmed messages are sent again under new numbers, else they become dead
    letters.
    """

"""Keeps the identifiers of the last messages that were taken: a second message with one of them is a
duplicate.

places     ... 7 8 9 10 11          each identifier of a durable message takes the next place
on disk    place modulo size        so the newest identifier replaces the oldest in its row
in memory  all places on disk; the identifiers of express messages are kept apart from them, because a crash
           loses express messages with their identifiers, and must not change the rows on disk
"""

from __future__ import annotations

from collections import OrderedDict, deque

from reliquary.queueing.model.message import ObjectId
from reliquary.streams.tables import Remembered

# DEPARTS from 3.1.5.1.11 (SR-234): an identifier is known for a destination, not for the whole
# manager, because all copies of a message that goes to several queues bear one identifier, and those
# for the second queue here would be lost.
Known = tuple[int, int, str]
"""An identifier, as two numbers, and the destination that the message was sent to."""


class History:
    """The last identifiers, at most `size` durable and `size` express ones; the caller checks their age."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.next = 0
        """The index of the next durable entry."""
        self.durable: dict[Known, int] = {}
        """The time when each durable message came, in microseconds since 1970."""
        self._ring: deque[Known] = deque()
        """The identifiers at the last indexes, the oldest first."""
        self._again: dict[Known, int] = {}
        """The number of older entries of each identifier that was stored more than once."""
        self.express: OrderedDict[Known, int] = OrderedDict()
        """The time when each express message came, in microseconds since 1970, the oldest first."""

    def arrival(self, identifier: ObjectId, destination: str) -> int | None:
        """Return when a message came, in microseconds since 1970; None if its identifier is not known."""
        known = (identifier.lineage.int, identifier.uniquifier, destination)
        arrived = self.durable.get(known)
        return self.express.get(known) if arrived is None else arrived

    def keep(self, entry: Remembered) -> None:
        """Add the identifier of a durable message; a full history drops its oldest entry."""
        known = known_of(entry)
        if self.durable.pop(known, None) is not None:
            self._again[known] = self._again.get(known, 0) + 1
        self.durable[known] = entry.arrived
        self.next = entry.place + 1
        self._ring.append(known)
        if len(self._ring) > self.size:
            self._forget(self._ring.popleft())

    def _forget(self, known: Known) -> None:
        """Drop the oldest entry; an identifier that also has a later entry stays in the history."""
        others = self._again.pop(known, 0)
        if not others:
            del self.durable[known]
        elif others > 1:
            self._again[known] = others - 1

    def keep_for_now(self, entry: Remembered) -> None:
        """Add the identifier of an express message, in memory only."""
        known = known_of(entry)
        self.express.pop(known, None)
        self.express[known] = entry.arrived
        if len(self.express) > self.size:
            self.express.popitem(last=False)


def known_of(entry: Remembered) -> Known:
    """Return the key under which an entry is found."""
    return entry.lineage.int, entry.uniquifier, entry.destination

"""Collects the groups of history events of a batch of turns; `records` explains how they are stored.

    put(...)   one event, or events that are alike and follow each other: they join the last group if they
               follow it, else they are a new group
    add(...)   a group with any numbers; a column that its first number cannot express is listed

These functions run for every message: they create no structs, and call few functions of Python.
"""

from __future__ import annotations

from collections import defaultdict
from struct import Struct
from typing import Final
from uuid import UUID

from reliquary.base.time import Instant
from reliquary.queueing.model.history.heads import HeadKey, KnownHead, make_head
from reliquary.queueing.model.history.numbers import Numbers, fits
from reliquary.queueing.model.history.records import (
    BY_SHAPE,
    FIRSTS,
    GROUP,
    Events,
    Head,
    HistoryRow,
    encode_events,
)
from reliquary.queueing.model.queue import Queue
from reliquary.wire.history import HistoryEvent

_PACK_GROUP: Final = GROUP.pack
_PACK_COUNT: Final = Struct("=I").pack_into
_COUNT_TO_END: Final = GROUP.size - Struct("=I").size
"""The bytes from the count of the last group to the end of the groups."""
_NOTHING: Final = -1
"""The message that follows a group which no event can join; no message has this number."""

KNOWN: Final = 32_768
"""The number of heads that are kept for the next batches."""


class Groups:
    """The events of a batch in their order, in groups."""

    def __init__(self) -> None:
        self.moment = 0
        self._known: dict[HeadKey, KnownHead] = {}
        self._batch = 0
        self._clear()

    def _clear(self) -> None:
        self._batch += 1
        self._count = 0
        self._heads: list[Head] = []
        self._moments: list[tuple[int, int]] = [(0, self.moment)]
        self._groups = bytearray()
        self._firsts: defaultdict[int, bytearray] = defaultdict(bytearray)
        self._listed: defaultdict[str, list[int]] = defaultdict(list)
        self._correlations: list[tuple[UUID, int]] = []
        self._next = _NOTHING
        """The message of an event that follows the last group."""
        self._length = 0
        """The count of events in the last group."""
        self._key: HeadKey | None = None
        """The key of the last group's head."""
        self._equal: tuple[int, ...] = ()
        """The numbers that are equal in all events of the last group."""

    def __len__(self) -> int:
        return self._count

    def at(self, now: Instant) -> None:
        """Set the moment of the events that follow."""
        if now != self.moment:
            self.moment = now
            self._moments.append((len(self._groups) // GROUP.size, now))
            self._next = _NOTHING

    # -- groups

    def put(
        self, queue: Queue | None, key: HeadKey, message: int, offset: int, equal: tuple[int, ...], count: int
    ) -> bool:
        """Add events with following messages and one offset, and return whether they are a new group.

        For a new group, the caller adds the first numbers that its shape has.  `equal` has all numbers
        that an event must have to join the group later; when it is empty, no event joins.
        """
        self._count += count
        if message == self._next and equal == self._equal and key == self._key:
            self._next = message + count
            self._length += count
            _PACK_COUNT(self._groups, len(self._groups) - _COUNT_TO_END, self._length)
            return False
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= KNOWN:
                self._known.clear()  # heads of this batch may then be in its row twice; both are right
            known = self._known[key] = KnownHead(make_head(queue, key))
        if known.batch != self._batch:
            known.batch, known.place = self._batch, len(self._heads)
            self._heads.append(known.head)
        self._groups += _PACK_GROUP(known.place, count, message, offset)
        self._next = message + count if equal else _NOTHING
        self._length, self._key, self._equal = count, key, equal
        return True

    def add(self, queue: Queue | None, key: HeadKey, numbers: Numbers) -> None:
        """Add a group with these numbers; the shape in the key has only what the numbers do not say."""
        event, number, reason, initiator, other, shape, lineage, sequence, transaction = key
        count = len(numbers[0][0])
        places = (0, 0)
        for flag, lists in numbers.items():
            shape |= flag
            firsts: list[int] = []
            for column, each in zip(BY_SHAPE[flag], lists, strict=True):
                if count == 1 or fits(each, column.step):
                    firsts.append(each[0])
                else:
                    firsts.append(0)
                    shape |= column.listed
                    self._listed[column.name] += each
            if flag:
                self._firsts[flag] += FIRSTS[flag].pack(*firsts)
            else:
                places = (firsts[0], firsts[1])
        key = (event, number, reason, initiator, other, shape, lineage, sequence, transaction)
        self.put(queue, key, *places, (), count)

    def gap(self, missing: int) -> None:
        """Add an event before all others of the batch which says that `missing` events are lost."""
        key: HeadKey = (HistoryEvent.GAP, 0, 0, ("", "", ""), "", 0, None, None, None)
        self.put(None, key, missing, -missing, (), 1)
        self._groups = self._groups[-GROUP.size :] + self._groups[: -GROUP.size]
        self._moments = [(group + 1 if group else 0, moment) for group, moment in self._moments]

    # -- the end of a batch

    def drop(self) -> int:
        """Delete all events of the batch, and return their number."""
        count = self._count
        self._clear()
        return count

    def take(self, total: int) -> HistoryRow:
        """Return all events of the batch as one row, and delete them; `total` is that of the last row."""
        moments = list(dict(self._moments).items()) if len(self._moments) > 1 else self._moments
        events = encode_events(
            Events(self._heads, moments, self._groups, self._firsts, self._listed, self._correlations)
        )
        row = HistoryRow(self._count, total + len(events), events)
        self._clear()
        return row

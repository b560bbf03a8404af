"""Sorts the queues of a manager by name, so that a list of 100,000 queues can be read in pages.

The order is made at the first request and kept up to date from then on.  A manager whose queues are never
listed has no cost for it, and the cost of a page depends only on the length of the page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Final

from reliquary.queueing.model.queue import Queue

SLICE: Final = 100
"""The number of queues that one search finds; they are yielded even if they are deleted meanwhile."""


class QueueOrder:
    """The sorted names of queues with their numbers, without journals and outgoing queues."""

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: list[tuple[str, int]] | None = None

    def add(self, record: Queue) -> None:
        """Add a queue that was created."""
        if self._keys is not None and is_listed(record):
            insort(self._keys, _key(record))

    def remove(self, record: Queue) -> None:
        """Remove a queue that was deleted."""
        if self._keys is not None and is_listed(record):
            place = bisect_left(self._keys, _key(record))
            if self._keys[place : place + 1] == [_key(record)]:
                del self._keys[place]

    def count(self, records: Iterable[Queue]) -> int:
        """Return the number of listed queues; `records` are all queues."""
        return len(self._made(records))

    def behind(self, pathname: str, records: Iterable[Queue]) -> Iterator[int]:
        """Yield the numbers of the queues after this path name; queues may be created and deleted meanwhile.

        `records` are all queues; they are read at the first request only.
        """
        keys = self._made(records)
        last = (pathname.casefold(), -1 if not pathname else 1 << 63)
        while True:
            place = bisect_right(keys, last)
            if place == len(keys):
                return
            some = keys[place : place + SLICE]
            last = some[-1]
            yield from [number for _, number in some]

    def _made(self, records: Iterable[Queue]) -> list[tuple[str, int]]:
        if self._keys is None:
            self._keys = sorted(map(_key, filter(is_listed, records)))
        return self._keys


def is_listed(record: Queue) -> bool:
    """Return whether a queue is in the list; journals and outgoing queues are shown in other places."""
    return not record.is_journal and record.outgoing is None


def _key(record: Queue) -> tuple[str, int]:
    return record.pathname.casefold(), record.number

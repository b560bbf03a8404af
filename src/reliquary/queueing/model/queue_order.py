"""The queues of a manager by name, so that a list of 100,000 can be told page by page.

It is made when somebody first asks for it, and kept up to date from then on: a manager that nobody looks at
pays nothing, and a page costs what is on it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Final

from reliquary.queueing.model.queue import Queue

SLICE: Final = 100
"""Queues that are found by one search; one of them that goes meanwhile is yielded all the same."""


class QueueOrder:
    """Names and numbers of queues, without journals and outgoing queues."""

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: list[tuple[str, int]] | None = None

    def add(self, record: Queue) -> None:
        """A queue was created."""
        if self._keys is not None and is_listed(record):
            insort(self._keys, _key(record))

    def remove(self, record: Queue) -> None:
        """A queue is gone."""
        if self._keys is not None and is_listed(record):
            place = bisect_left(self._keys, _key(record))
            if self._keys[place : place + 1] == [_key(record)]:
                del self._keys[place]

    def count(self, records: Iterable[Queue]) -> int:
        """How many queues are listed; `records` are all queues."""
        return len(self._made(records))

    def behind(self, pathname: str, records: Iterable[Queue]) -> Iterator[int]:
        """Yield the numbers of queues whose path names come after this one; others may come and go meanwhile.

        `records` are all queues; they are read when the order is asked for the first time.
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
    """Whether a queue is listed by itself: journals are shown with their queues, outgoing ones elsewhere."""
    return not record.is_journal and record.outgoing is None


def _key(record: Queue) -> tuple[str, int]:
    return record.pathname.casefold(), record.number

"""The rows of messages, read from the disk beside the loop.

Message rows never change, and what was told of is on disk, so any thread may read them.  Neighbours, which
messages of one queue mostly are, are read in one go; nothing is read that is not wanted, however large it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from reliquary.base.faults import StoreDamage
from reliquary.queueing.model.bodies import Bodies
from reliquary.queueing.model.message import StoredBody
from reliquary.queueing.model.tables import MESSAGES, message_key
from reliquary.store import StagedRows
from reliquary.store.disk import Disk

Record = bytes | memoryview
"""As it was written."""

MANY: Final = 4
"""From so many neighbours on, one range is cheaper to read than each alone."""


class Gone(Exception):
    """A message is not there any more, and whoever reads may not miss it."""


class Stored(Protocol):
    """Where rows of messages come from."""

    def records(self, numbers: Sequence[int]) -> list[Record | None]:
        """The record of each message; None where it is gone."""

    def body(self, body: StoredBody) -> bytes | None:
        """A body that lies in pieces; None where it is gone."""


class StoredMessages:
    """Those of a disk."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._bodies = Bodies(StagedRows(disk))  # nothing is ever staged here: it reads what is applied

    def records(self, numbers: Sequence[int]) -> list[Record | None]:
        """The record of each message; None where it is gone."""
        together = runs(numbers)
        found: dict[bytes, Record] = {}
        for first, last in together:
            if last - first < MANY - 1:
                found.update(self._each(first, last))
                continue
            rows = self._range(first, last)
            records = MESSAGES.records(rows)
            if len(together) == 1 and len(records) == len(numbers):  # as it mostly is
                return list(records)
            found.update(zip([key for key, _ in rows], records, strict=True))
        return [found.get(message_key(number)) for number in numbers]

    def body(self, body: StoredBody) -> bytes | None:
        """A body that lies in pieces; None where it is gone."""
        try:
            return self._bodies.whole(body)
        except StoreDamage:
            if all(self._bodies.piece(body.spool, index) is not None for index in range(body.pieces)):
                raise  # nothing went: it is damaged
            return None

    def _range(self, first: int, last: int) -> list[tuple[bytes, bytes]]:
        return self._disk.range(
            MESSAGES.name, message_key(first), message_key(last + 1), limit=last - first + 1
        )

    def _each(self, first: int, last: int) -> Iterator[tuple[bytes, Record]]:
        for number in range(first, last + 1):
            key = message_key(number)
            value = self._disk.get(MESSAGES.name, key)
            if value is not None:
                yield key, MESSAGES.records([(key, value)])[0]


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours together, by their first and last.

    >>> runs([7, 8, 9, 3, 12])
    [(7, 9), (3, 3), (12, 12)]
    """
    if not numbers:
        return []
    first = numbers[0]
    if numbers[-1] - first == len(numbers) - 1 and list(numbers) == list(range(first, first + len(numbers))):
        return [(first, numbers[-1])]
    found: list[tuple[int, int]] = []
    last = first
    for number in numbers[1:]:
        if number != last + 1:
            found.append((first, last))
            first = number
        last = number
    found.append((first, last))
    return found

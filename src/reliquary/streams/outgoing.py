"""Keeps the messages of an outgoing stream that are still in the queue, with their numbers, in memory.

    acknowledged              last
         |                     |
    1 2 3 4 5 . 7 8 . . . 12 13       .  the message left the queue: it expired, was refused or withdrawn
    kept for     awaiting             previous(12) = 8, previous(7) = 5
    a final      a receipt
    receipt

A message that is sent again keeps its number, and names the last number before it that the receiver has or
will get.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reliquary.streams.tables import NUMBERS_IN_A_ROW, OutgoingStream


@dataclass(slots=True)
class Sent:
    """An outgoing stream, and the numbers of its messages that are still in the queue."""

    stream: OutgoingStream
    numbers: dict[int, int] = field(default_factory=dict)
    """The number of each message, by LookupIdentifier."""
    rows: dict[int, list[int]] = field(default_factory=dict)
    """The LookupIdentifier of each number, grouped like the rows on disk; 0 if the message left the queue."""
    finals: dict[int, int] = field(default_factory=dict)
    """Messages that stay until their final receipt comes: LookupIdentifier, and the protocol's key."""
    awaiting: int = 0
    """The number of messages without a receipt."""

    def at(self, number: int) -> int:
        """Return the LookupIdentifier of the message with this number; 0 if it left the queue."""
        row = self.rows.get(number // NUMBERS_IN_A_ROW)
        return row[number % NUMBERS_IN_A_ROW] if row else 0

    def previous(self, number: int) -> int:
        """Return the highest lower number that the receiver has or will get (SR-264)."""
        # DEPARTS from 3.1.7.2.3 (SR-264): acknowledged numbers count too, and on every transmission, because
        # a receiver that never gets an expired number would ignore all later numbers.
        lower = number - 1
        while lower > self.stream.acknowledged and not self.at(lower):
            lower -= 1
        return lower

    def first_awaiting(self) -> int:
        """Return the lowest number without a receipt; call it only if `awaiting` is not 0."""
        number = self.stream.acknowledged + 1
        while not self.at(number):
            number += 1
        return number

    @property
    def start_is_lost(self) -> bool:
        """Return whether number 1 left the queue before the receiver got it; then the receiver takes no other
        number."""
        stream = self.stream
        return not (stream.acknowledged or stream.started or self.at(1))

    def give(self, number: int, lookup_id: int) -> None:
        """Record that a message has this number."""
        self.numbers[lookup_id] = number
        index = number // NUMBERS_IN_A_ROW
        row = self.rows.get(index)
        if row is None:
            row = self.rows[index] = [0] * NUMBERS_IN_A_ROW
        row[number % NUMBERS_IN_A_ROW] = lookup_id
        if number > self.stream.acknowledged:
            self.awaiting += 1

    def free(self, lookup_ids: Sequence[int]) -> set[int]:
        """Remove the numbers of messages, and return the indexes of the rows that changed."""
        numbers, finals, rows, acknowledged = self.numbers, self.finals, self.rows, self.stream.acknowledged
        changed: set[int] = set()
        for lookup_id in lookup_ids:
            number = numbers.pop(lookup_id)
            index = number // NUMBERS_IN_A_ROW
            rows[index][number % NUMBERS_IN_A_ROW] = 0
            changed.add(index)
            if number > acknowledged:
                self.awaiting -= 1
            if finals:
                finals.pop(lookup_id, None)
        for index in changed:
            if not any(rows[index]):
                del rows[index]
        return changed

    def up_to(self, last: int) -> list[int]:
        """Return the messages without a receipt that have numbers up to `last`, in the order of numbers."""
        found: list[int] = []
        number = self.stream.acknowledged + 1
        while number <= last:
            index, place = divmod(number, NUMBERS_IN_A_ROW)
            row = self.rows.get(index)
            if row is not None:
                found += filter(None, row[place : place + last + 1 - number])
            number += NUMBERS_IN_A_ROW - place
        return found

"""A stream that goes out, in memory: which of its messages are still in the queue, under which numbers.

    acknowledged              last
         |                     |
    1 2 3 4 5 . 7 8 . . . 12 13       .  the message is gone: it expired, was refused or withdrawn
    kept for     awaiting             previous(12) = 8, previous(7) = 5
    a final      a receipt
    receipt

A message goes again under its old number, and names the number before it that the receiver has or will get.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.streams.tables import NUMBERS_IN_A_ROW, OutgoingStream


@dataclass(slots=True)
class Sent:
    """A stream that goes out, and the numbers of its messages that are still in the queue."""

    stream: OutgoingStream
    numbers: dict[int, int] = field(default_factory=dict)
    """Number by LookupIdentifier."""
    rows: dict[int, list[int]] = field(default_factory=dict)
    """LookupIdentifier by number, grouped as the rows on disk are; 0 where there is none."""
    finals: dict[int, int] = field(default_factory=dict)
    """Messages that stay until their final receipt comes: LookupIdentifier, and the protocol's key."""
    awaiting: int = 0
    """How many have no receipt yet."""

    def at(self, number: int) -> int:
        """The LookupIdentifier of the message that has this number; 0 when it is gone."""
        row = self.rows.get(number // NUMBERS_IN_A_ROW)
        return row[number % NUMBERS_IN_A_ROW] if row else 0

    def previous(self, number: int) -> int:
        """The highest lower number that the receiver has or will get: those between are gone (SR-264)."""
        # DEPARTS from 3.1.7.2.3 (SR-264): what was acknowledged counts too, and on every transmission,
        # because a receiver that never gets a number which expired would ignore all that follow it.
        lower = number - 1
        while lower > self.stream.acknowledged and not self.at(lower):
            lower -= 1
        return lower

    def first_awaiting(self) -> int:
        """The lowest number without a receipt; only to be asked while `awaiting` is not 0."""
        number = self.stream.acknowledged + 1
        while not self.at(number):
            number += 1
        return number

    @property
    def start_is_lost(self) -> bool:
        """Whether number 1 is gone and nobody has seen it: a receiver takes none of the others."""
        stream = self.stream
        return not (stream.acknowledged or stream.started or self.at(1))

    def give(self, number: int, lookup_id: int) -> None:
        """Note that a message has this number."""
        self.numbers[lookup_id] = number
        row = self.rows.setdefault(number // NUMBERS_IN_A_ROW, [0] * NUMBERS_IN_A_ROW)
        row[number % NUMBERS_IN_A_ROW] = lookup_id
        if number > self.stream.acknowledged:
            self.awaiting += 1

    def free(self, lookup_id: int) -> int:
        """Forget a message's number; returns the index of the row that changed."""
        number = self.numbers.pop(lookup_id)
        self.finals.pop(lookup_id, None)
        index = number // NUMBERS_IN_A_ROW
        row = self.rows[index]
        row[number % NUMBERS_IN_A_ROW] = 0
        if not any(row):
            del self.rows[index]
        if number > self.stream.acknowledged:
            self.awaiting -= 1
        return index

    def up_to(self, last: int) -> list[int]:
        """The messages without a receipt whose numbers are not above `last`, in the order of numbers."""
        return [
            found for number in range(self.stream.acknowledged + 1, last + 1) if (found := self.at(number))
        ]

"""Records and tables of streams; each protocol has five tables of its own.

NAME_streams   outgoing queue                  the stream that leaves it, and how far it got
NAME_numbers   outgoing queue, number // 64    which messages have which numbers
NAME_incoming  sender's GUID, destination      the stream that comes from there, and how far it got
NAME_history   slot                            identifiers of the last messages, a ring
NAME_ordinals  one row                         counters that only grow
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.rows import Table
from reliquary.queueing.model.message import NO_GUID


class OutgoingStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stream as its sender keeps it."""

    number: int
    """The stream's own number: time and ordinal in one number of 64 bits."""
    last: int = 0
    """The last number that a message got."""
    acknowledged: int = 0
    """The highest number that a receipt confirmed."""
    sender: UUID = NO_GUID
    """The manager that sends it."""
    started: bool = False
    """Number 1 was answered: the receiver has seen it, with or without a receipt."""
    closed: bool = False
    """No message gets a number of it any more: its receiver may have seen some that are forgotten here."""


class Numbers(msgspec.Struct, frozen=True, omit_defaults=True):
    """The messages that have the numbers from a multiple of NUMBERS_IN_A_ROW on."""

    lookup_ids: tuple[int, ...]
    """Their LookupIdentifiers; 0 where a message is gone, or the number was not given yet."""
    finals: tuple[tuple[int, int], ...] = ()
    """Messages that stay until their final receipt comes, each with the number in its identifier."""


class IncomingStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stream as its receiver keeps it."""

    number: int
    """The stream's own number."""
    last: int = 0
    """The number of the last message that was taken."""
    acknowledged: int = 0
    """The number in the last receipt that was sent."""
    receipts_to: str = ""
    """Where receipts go."""
    identifier: str = ""
    """The stream's name as its sender writes it, where the protocol has one."""
    format_name: str = ""
    """The destination, for the view of transfers."""
    accessed: int = 0
    """When a message of it was last taken, microseconds since 1970."""
    restored: bool = False
    """It was kept in a store that was restored: numbers after `last` may have been taken before that."""
    skipped: tuple[tuple[int, int], ...] = ()
    """Ranges of numbers that were passed over (`gaps`): whether they were taken is not known."""
    reset: bool = False
    """An administrator wants the next message to be taken, whatever its stream and its number are."""


class Remembered(msgspec.Struct, frozen=True, gc=False):
    """The identifier of a message that was taken."""

    lineage: UUID
    uniquifier: int
    arrived: int
    """Microseconds since 1970."""
    place: int
    """How many were remembered before: the ring's head has the highest."""
    destination: str


class Ordinals(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counters that only grow; the next stream's number is made of them."""

    stream: int = 1
    """The ordinal of the next stream (SR-157)."""
    timestamp: int = 0
    """The time in the last stream's number: the next one has no earlier time, whatever the clock says."""
    restored: int = 0
    """When the last era began, microseconds since 1970; 0 in a store that was never restored."""


class StreamTables:
    """The five tables of one protocol."""

    def __init__(self, protocol: str) -> None:
        self.streams: Final = Table(f"{protocol}_streams", OutgoingStream)
        self.numbers: Final = Table(f"{protocol}_numbers", Numbers)
        self.incoming: Final = Table(f"{protocol}_incoming", IncomingStream)
        self.history: Final = Table(f"{protocol}_history", Remembered)
        self.ordinals: Final = Table(f"{protocol}_ordinals", Ordinals)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all five, for the store."""
        return (
            self.streams.name,
            self.numbers.name,
            self.incoming.name,
            self.history.name,
            self.ordinals.name,
        )


NUMBERS_IN_A_ROW: Final = 64
ORDINALS_KEY: Final = b"\0"
"""The key of the one row of `ordinals`."""

_queue_layout = Layout(">I")
_number_layout = Layout(">IQ")

queue_key = _queue_layout.pack
number_key = _number_layout.pack
slot_key = _queue_layout.pack


def incoming_key(sender: UUID, destination: str) -> bytes:
    """The key of a stream that comes in."""
    return sender.bytes + destination.encode()

"""Defines the records and tables of streams; each protocol has five tables of its own.

table          key                             record
NAME_streams   outgoing queue                  its outgoing stream, and the last confirmed number
NAME_numbers   outgoing queue, number // 64    the messages that have these numbers
NAME_incoming  sender's GUID, destination      the incoming stream, and the last number that was taken
NAME_history   slot                            the identifiers of the last messages, a ring
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
    """The record of an outgoing stream, at its sender; its key is the outgoing queue (QB-111)."""

    number: int
    """The number of the stream: time and ordinal in one number of 64 bits."""
    last: int = 0
    """The highest number that a message of the stream has."""
    acknowledged: int = 0
    """The highest number that a receipt confirmed."""
    sender: UUID = NO_GUID
    """The manager that sends the stream."""
    started: bool = False
    """Whether number 1 was answered: the receiver has seen it, even if no receipt came."""
    closed: bool = False
    """Whether no message gets a number any more: the receiver may have numbers that a restore lost here."""
    receiver: UUID = NO_GUID
    """The manager that the stream was last sent to, if the protocol reports it; receipts must come
    from it."""


class Numbers(msgspec.Struct, frozen=True, omit_defaults=True):
    """The messages of NUMBERS_IN_A_ROW numbers, from a multiple of it on."""

    lookup_ids: tuple[int, ...]
    """Their LookupIdentifiers; 0 if a message left the queue, or if the number is not given yet (QB-115)."""
    finals: tuple[tuple[int, int], ...] = ()
    """Messages that stay until their final receipt comes, each with the number in its identifier (QB-114)."""


class IncomingStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record of an incoming stream, at its receiver."""

    number: int
    """The number of the stream."""
    last: int = 0
    """The number of the last message that was taken."""
    acknowledged: int = 0
    """The number in the last receipt that was sent."""
    receipts_to: str = ""
    """The address that receipts are sent to."""
    identifier: str = ""
    """The name of the stream as its sender writes it, if the protocol has one."""
    format_name: str = ""
    """The destination, for the view of transfers."""
    accessed: int = 0
    """When the last message was taken, in microseconds since 1970."""
    restored: bool = False
    """Whether the store was restored since then: numbers after `last` may have been taken before the
    restore."""
    skipped: tuple[tuple[int, int], ...] = ()
    """Ranges of numbers that were skipped (`gaps`): it is not known whether they were taken."""
    reset: bool = False
    """Whether an administrator wants the next message to be taken, with any stream and number."""


class Remembered(msgspec.Struct, frozen=True, gc=False):
    """The identifier of a message that was taken."""

    lineage: UUID
    uniquifier: int
    arrived: int
    """When the message came, in microseconds since 1970."""
    place: int
    """The number of identifiers that were stored before this one."""
    destination: str


class Ordinals(msgspec.Struct, frozen=True, omit_defaults=True):
    """The counters of which the number of the next stream is made; they only grow."""

    stream: int = 1
    """The ordinal of the next stream (SR-157)."""
    timestamp: int = 0
    """The time in the number of the last stream; the next one is not earlier, even when the clock goes back.
    """
    restored: int = 0
    """When the last era began, in microseconds since 1970; 0 in a store that was never restored."""


class StreamTables:
    """The five tables of one protocol, which survive failures (QB-116)."""

    def __init__(self, protocol: str) -> None:
        self.streams: Final = Table(f"{protocol}_streams", OutgoingStream)
        self.numbers: Final = Table(f"{protocol}_numbers", Numbers)
        self.incoming: Final = Table(f"{protocol}_incoming", IncomingStream)
        self.history: Final = Table(f"{protocol}_history", Remembered)
        self.ordinals: Final = Table(f"{protocol}_ordinals", Ordinals)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all five tables, for the store."""
        return (
            self.streams.name,
            self.numbers.name,
            self.incoming.name,
            self.history.name,
            self.ordinals.name,
        )


NUMBERS_IN_A_ROW: Final = 64
"""The number of messages whose numbers one row of `numbers` contains."""
ORDINALS_KEY: Final = b"\0"
"""The key of the one row of `ordinals`."""

_queue_layout = Layout(">I")
_number_layout = Layout(">IQ")

queue_key = _queue_layout.pack
number_key = _number_layout.pack
slot_key = _queue_layout.pack


def incoming_key(sender: UUID, destination: str) -> bytes:
    """Return the key of an incoming stream."""
    return sender.bytes + destination.encode()

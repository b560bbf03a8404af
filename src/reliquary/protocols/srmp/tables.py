"""Where SRMP's durable state lies: streams that go out, streams that come in, identifiers that came.

srmp_streams   outgoing queue                  the stream that leaves it, how far it got
srmp_numbers   outgoing queue, number // 64    which messages have which numbers
srmp_incoming  sender's GUID, destination      the stream that comes from there, how far it got
srmp_history   slot                            identifiers of the last messages, a ring
srmp_ordinals  one row                         counters that only grow
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any, Final
from uuid import UUID

import msgspec

from reliquary.base.rows import Table
from reliquary.protocols.srmp.codec.lexical import stream_id_text
from reliquary.queueing.message import NO_GUID


class OutgoingStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """Stream, 3.1.1.1.6, as its sender keeps it."""

    number: int
    """Stream.Id: time and ordinal in one number of 64 bits."""
    last: int = 0
    """SequenceNumber: the last number that was given."""
    acknowledged: int = 0
    """The highest number that a stream receipt confirmed."""
    sender: UUID = NO_GUID
    """The manager that sends it."""

    @property
    def identifier(self) -> str:
        """streamId (SR-071)."""
        return stream_id_text(self.sender, self.number)


class Numbers(msgspec.Struct, frozen=True, omit_defaults=True):
    """Messages that have the numbers from a multiple of NUMBERS_IN_A_ROW on."""

    lookup_ids: tuple[int, ...]
    """Their LookupIdentifiers; 0 where a message is gone, or the number was not given yet."""
    finals: tuple[tuple[int, int], ...] = ()
    """Those that stay until their final stream receipt comes, with the numbers in their identifiers."""


class IncomingStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """Stream, 3.1.1.1.6, as its receiver keeps it."""

    number: int
    """IncomingId."""
    last: int = 0
    """IncomingSequenceNumber."""
    acknowledged: int = 0
    """LastAcknowledgedStreamMessage."""
    receipts_to: str = ""
    """SendReceiptsTo."""
    identifier: str = ""
    """The streamId as it came."""
    format_name: str = ""
    """The destination, for the view of transfers."""
    accessed: int = 0
    """When a message of it was last taken, microseconds since 1970."""


class Remembered(msgspec.Struct, frozen=True, gc=False):
    """An entry of MessageIdHistoryTable."""

    lineage: UUID
    uniquifier: int
    arrived: int
    place: int
    """How many came before: the ring's head is the highest."""
    destination: str


class Ordinals(msgspec.Struct, frozen=True, omit_defaults=True):
    """SRMPState: counters that only grow."""

    stream: int = 1
    """StreamIdOrdinal of the next stream (SR-157)."""
    timestamp: int = 0
    """The time in the last stream's number: the next one has no earlier time, whatever the clock says."""


NUMBERS_IN_A_ROW: Final = 64

STREAMS: Final = Table("srmp_streams", OutgoingStream)
NUMBERS: Final = Table("srmp_numbers", Numbers)
INCOMING: Final = Table("srmp_incoming", IncomingStream)
HISTORY: Final = Table("srmp_history", Remembered)
ORDINALS: Final = Table("srmp_ordinals", Ordinals)

_ALL: Final[tuple[Table[Any], ...]] = (STREAMS, NUMBERS, INCOMING, HISTORY, ORDINALS)
TABLES: Final[tuple[str, ...]] = tuple(table.name for table in _ALL)

_queue_layout = Layout(">I")
_number_layout = Layout(">IQ")

queue_key = _queue_layout.pack
number_key = _number_layout.pack
slot_key = _queue_layout.pack


def incoming_key(sender: UUID, destination: str) -> bytes:
    """The key of a stream that comes in."""
    return sender.bytes + destination.encode()

"""The streams of one protocol, both ways, in memory.

Durable state changes only through `apply.apply`; `recovery.recover` builds it from the rows.
"""

from __future__ import annotations

from collections.abc import Hashable

from reliquary.base.rows import Rows
from reliquary.base.turn import Draft
from reliquary.streams.history import History
from reliquary.streams.incoming import Gap, Incoming, StreamKey
from reliquary.streams.outgoing import Sent
from reliquary.streams.tables import IncomingStream, Ordinals, OutgoingStream, StreamTables

StreamName = Hashable
"""What receipts call a stream that goes out."""


class StreamState:
    """What a protocol knows of its streams; the state of its machine is derived from this class."""

    def __init__(self, rows: Rows, tables: StreamTables, *, history_size: int) -> None:
        self.rows = rows
        self.tables = tables
        self.draft = Draft()
        self.ordinals = Ordinals()
        self.sent: dict[int, Sent] = {}
        """Streams that go out, by outgoing queue."""
        self.queue_of: dict[StreamName, int] = {}
        """The outgoing queue of each stream that goes out, by the name of the stream."""
        self.incoming: dict[StreamKey, Incoming] = {}
        self.places: list[Incoming] = []
        """Streams that come in, by place."""
        self.gaps: dict[StreamKey, Gap] = {}
        """Streams that came before the store was restored and have a gap, the oldest first (`gaps`)."""
        self.history = History(history_size)

    def known_destination(self, destination: str) -> str:
        """The key under which identifiers for a destination are known; rows may have another."""
        return destination

    def name_of(self, stream: OutgoingStream) -> StreamName:
        """What the receipts of this stream call it; two managers may use one number."""
        return stream.sender, stream.number

    def add_sent(self, queue: int, stream: OutgoingStream) -> None:
        """Note that this stream goes out of this queue."""
        self.sent[queue] = Sent(stream)
        self.queue_of[self.name_of(stream)] = queue

    def remove_sent(self, queue: int) -> Sent:
        """Forget the stream that goes out of this queue, and return it."""
        sent = self.sent.pop(queue)
        del self.queue_of[self.name_of(sent.stream)]
        return sent

    def incoming_stream(self, key: StreamKey, stream: IncomingStream) -> Incoming:
        """The stream from there; a new one gets the next place."""
        known = self.incoming.get(key)
        if known is None:
            known = self.incoming[key] = Incoming(len(self.places), key, stream)
            self.places.append(known)
        return known

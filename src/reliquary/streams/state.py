"""Keeps the outgoing and incoming streams of one protocol in memory.

Only `apply.apply` changes the durable part; `recovery.recover` builds it from the rows.
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
"""The name of an outgoing stream in its receipts."""


class StreamState:
    """The streams of a protocol; its machine derives its state class from this class."""

    def __init__(self, rows: Rows, tables: StreamTables, *, history_size: int) -> None:
        self.rows = rows
        self.tables = tables
        self.draft = Draft()
        self.ordinals = Ordinals()
        self.sent: dict[int, Sent] = {}
        """The outgoing streams, by the number of their outgoing queue."""
        self.queue_of: dict[StreamName, int] = {}
        """The outgoing queue of each outgoing stream, by the name of the stream."""
        self.incoming: dict[StreamKey, Incoming] = {}
        """The incoming streams, by sender and destination."""
        self.places: list[Incoming] = []
        """The incoming streams, by index."""
        self.gaps: dict[StreamKey, Gap] = {}
        """The streams older than the last restore that have a gap, the oldest first (`gaps`)."""
        self.history = History(history_size)

    def known_destination(self, destination: str) -> str:
        """Return the form of a destination that the history uses; older rows may have another form."""
        return destination

    def name_of(self, stream: OutgoingStream) -> StreamName:
        """Return the name of a stream in its receipts; two senders may use one number."""
        return stream.sender, stream.number

    def add_sent(self, queue: int, stream: OutgoingStream) -> None:
        """Add the outgoing stream of a queue."""
        self.sent[queue] = Sent(stream)
        self.queue_of[self.name_of(stream)] = queue

    def remove_sent(self, queue: int) -> Sent:
        """Remove the outgoing stream of a queue, and return it."""
        sent = self.sent.pop(queue)
        del self.queue_of[self.name_of(sent.stream)]
        return sent

    def incoming_stream(self, key: StreamKey, stream: IncomingStream) -> Incoming:
        """Return the incoming stream of a sender and destination; add it at the next index if it is new."""
        known = self.incoming.get(key)
        if known is None:
            known = self.incoming[key] = Incoming(len(self.places), key, stream)
            self.places.append(known)
        return known

"""Defines the facts about the durable state of streams; only `apply` changes the state by them."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.time import Instant
from reliquary.base.turn import Fact
from reliquary.streams.tables import IncomingStream, OutgoingStream, Remembered


class StreamBegun(Fact, frozen=True):
    """An outgoing queue has a new stream; no later stream gets the ordinal in its number."""

    queue: int
    stream: OutgoingStream


class MessagesNumbered(Fact, frozen=True):
    """Messages of a stream got the numbers from `first` on, and keep them."""

    queue: int
    first: int
    lookup_ids: tuple[int, ...]
    finals: tuple[tuple[int, int], ...] = ()
    """The messages that stay until their final receipt comes, each with the number in its identifier."""


class StreamStarted(Fact, frozen=True):
    """The receiver answered number 1 of a stream, so it knows the stream."""

    queue: int


class ReceiverKnown(Fact, frozen=True):
    """A stream is sent to this manager; a receipt of another manager does not count for it."""

    queue: int
    receiver: UUID


class StreamClosed(Fact, frozen=True):
    """No message gets a number of this stream any more; the stream ends with its last message."""

    queue: int


class StoreRestored(Fact, frozen=True):
    """The store was restored at this moment; numbers may be missing in streams that are older."""

    moment: Instant


class StreamAcknowledged(Fact, frozen=True):
    """The receiver has all messages of a stream up to this number."""

    queue: int
    last: int


class NumbersFreed(Fact, frozen=True):
    """These messages have left the outgoing queue, so their numbers are not needed any more."""

    queue: int
    lookup_ids: tuple[int, ...]


class StreamEnded(Fact, frozen=True):
    """All messages of a stream have left the queue; the next message begins a new stream."""

    queue: int


class StreamAdvanced(Fact, frozen=True):
    """An incoming stream changed: a message of it was taken, or a receipt was sent."""

    sender: UUID
    destination: str
    stream: IncomingStream


class IdentifierRemembered(Fact, frozen=True):
    """A message with this identifier was taken; a second message with it is a duplicate."""

    entry: Remembered
    express: bool = False
    """The message is express: a crash loses it, and this entry with it."""

    @property
    def volatile(self) -> bool:
        """Return whether a crash may lose this fact."""
        return self.express

"""Facts about the durable state of streams; `apply` is the only place that changes it."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.time import Instant
from reliquary.base.turn import Fact
from reliquary.streams.tables import IncomingStream, OutgoingStream, Remembered


class StreamBegun(Fact, frozen=True):
    """An outgoing queue has a new stream; the ordinal in its number is never used again."""

    queue: int
    stream: OutgoingStream


class MessagesNumbered(Fact, frozen=True):
    """Messages of a stream have the numbers from `first` on, for good."""

    queue: int
    first: int
    lookup_ids: tuple[int, ...]
    finals: tuple[tuple[int, int], ...] = ()
    """Those that stay until their final receipt comes, each with the number in its identifier."""


class StreamStarted(Fact, frozen=True):
    """The receiver answered number 1 of a stream, so it has seen the start."""

    queue: int


class StreamClosed(Fact, frozen=True):
    """No message gets a number of this stream any more; it ends when its messages are gone."""

    queue: int


class StoreRestored(Fact, frozen=True):
    """The store was restored; from then on numbers may be missing in streams that came before."""

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
    """Nothing of a stream is outstanding; the next message begins another."""

    queue: int


class StreamAdvanced(Fact, frozen=True):
    """A stream that comes in got further: a message of it was taken, or a receipt was sent."""

    sender: UUID
    destination: str
    stream: IncomingStream


class IdentifierRemembered(Fact, frozen=True):
    """A message with this identifier was taken; a second one is a duplicate."""

    entry: Remembered
    express: bool = False
    """Its message does not outlive a crash, and neither does this."""

    @property
    def volatile(self) -> bool:
        """Whether the message is express."""
        return self.express

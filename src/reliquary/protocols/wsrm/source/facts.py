"""Defines the changes of the durable state of the source, which only `apply` makes."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.codec.values import Incomplete
from reliquary.protocols.wsrm.source.tables import Outbound, Ranges


class SequenceBegun(Fact, frozen=True):
    """A sequence is requested, or one that a client offered was accepted."""

    outbound: Outbound


class SequenceCreated(Fact, frozen=True):
    """The peer has created a sequence under this identifier."""

    sequence: int
    identifier: str
    offer: str = ""
    """The own offer that the peer accepted; empty if it did not."""
    renewed_at: int = 0
    """From this time on no number is assigned in it; 0 for no limit."""
    incomplete: Incomplete | None = None
    """The peer's treatment of messages behind a gap when the sequence ends."""


class SequencesRetired(Fact, frozen=True):
    """The store was restored from a backup: no number is assigned in these sequences any more."""

    sequences: tuple[int, ...]


class QueueAssigned(Fact, frozen=True):
    """An outgoing queue sends its messages in this sequence from now on."""

    sequence: int
    queue: int
    destination: str


class MessagesNumbered(Fact, frozen=True):
    """Messages got consecutive numbers, from `first` on, and may be sent."""

    sequence: int
    first: int
    lookup_ids: tuple[int, ...]


class NumbersAcknowledged(Fact, frozen=True):
    """The peer acknowledged these numbers, and never takes that back."""

    sequence: int
    ranges: Ranges


class MessagesWithdrawn(Fact, frozen=True):
    """Messages with these numbers left their queue without an acknowledgement."""

    sequence: int
    numbers: tuple[int, ...]


class SequenceClosing(Fact, frozen=True):
    """No message is sent in this sequence any more."""

    sequence: int
    last_message: bool = False
    """The next number belongs to the empty LastMessage of WS-RM 1.0."""


class SequenceDecided(Fact, frozen=True):
    """The outcome of all messages is known; those that did not arrive have no number any more."""

    sequence: int


class SequenceEnded(Fact, frozen=True):
    """The sequence has ended and is removed; messages without an acknowledgement lose their numbers."""

    sequence: int

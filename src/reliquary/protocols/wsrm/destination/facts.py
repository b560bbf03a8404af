"""Defines the changes of the durable state of incoming sequences, which only `apply` makes."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.destination.tables import Inbound, Request
from reliquary.queueing.model.message import Message


class SequenceOpened(Fact, frozen=True):
    """A sequence of a remote source was created."""

    row: Inbound


class SequencePaired(Fact, frozen=True):
    """The sequence that its client offered got this number."""

    sequence: int
    outbound: int


class MessageReceived(Fact, frozen=True):
    """A message is in its queue, or had no content for it, and is acknowledged from now on."""

    sequence: int
    number: int
    last: bool = False
    """Whether the message is the last one of its sequence."""
    released: tuple[int, ...] = ()
    """Buffered messages that went into the queue with it."""


class MessageBuffered(Fact, frozen=True):
    """A message is stored until those before it have come, and is acknowledged from now on."""

    sequence: int
    number: int
    message: Message
    last: bool = False


class BufferReleased(Fact, frozen=True):
    """Buffered messages went into their queue, or were discarded."""

    sequence: int
    numbers: tuple[int, ...]


class RequestNoted(Fact, frozen=True):
    """The MessageID of a request is kept for its reply."""

    sequence: int
    number: int
    request: Request


class SequenceClosed(Fact, frozen=True):
    """A sequence accepts no further message."""

    sequence: int
    last: int = 0
    """The number of its last message; 0 if it is unknown."""


class SequenceEnded(Fact, frozen=True):
    """A sequence has ended, and is remembered for a while."""

    sequence: int
    at: int
    last: int = 0


class SequencesRetired(Fact, frozen=True):
    """The store was restored from a backup, so that peers cannot use these sequences any more."""

    sequences: tuple[int, ...]


class SequencesForgotten(Fact, frozen=True):
    """Ended sequences are removed."""

    sequences: tuple[int, ...]

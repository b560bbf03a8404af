"""Changes of the durable state of sequences that come in; `apply` is the only place that makes them."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.destination.tables import Inbound, Request
from reliquary.queueing.model.message import Message


class SequenceOpened(Fact, frozen=True):
    """A sequence of a remote source was created."""

    row: Inbound


class SequencePaired(Fact, frozen=True):
    """The sequence that its client offered has this number."""

    sequence: int
    outbound: int


class MessageReceived(Fact, frozen=True):
    """A message is in its queue, or had nothing for it, and is acknowledged from now on."""

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
    """A sequence takes no further message."""

    sequence: int
    last: int = 0
    """The number of its last message; 0 where that is not known."""


class SequenceEnded(Fact, frozen=True):
    """A sequence is over, and is remembered for a while."""

    sequence: int
    at: int
    last: int = 0


class SequencesRetired(Fact, frozen=True):
    """The store was restored from a backup: peers do not find these sequences any more."""

    sequences: tuple[int, ...]


class SequencesForgotten(Fact, frozen=True):
    """Ended sequences are remembered no longer."""

    sequences: tuple[int, ...]

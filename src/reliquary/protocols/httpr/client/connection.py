"""Defines the connection of a channel at its client, and the pending requests on it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from reliquary.base.time import Instant
from reliquary.protocols.httpr.codec.values import NOTHING, Command


@dataclass(slots=True)
class SentRequest:
    """A request that has no response yet."""

    number: int
    command: Command
    fetches: bool
    """Whether the response may carry a batch."""
    sent_at: Instant
    batch: int = NOTHING
    """The id of the batch that PUSH or EXCHANGE carries."""
    queue: int = 0
    """The queue of the batch's messages."""
    messages: int = 0
    """The number of messages in the batch."""


@dataclass(slots=True)
class Connection:
    """The connection of a channel to its responder.

    `info` opens it, `requests` sends on it, `agent` takes the responses, and `failures` closes it.
    """

    last_used: Instant
    """When a request was last sent or answered; a new connection does not change it."""
    epoch: int = 0
    """The number of the connection; each new one has a higher number."""
    is_open: bool = False
    """The connection of this epoch was opened, and the client has not closed it."""
    last_number: int = 0
    """The number of the last request in this epoch."""
    pending: deque[SentRequest] = field(default_factory=deque)
    """Requests without a response, oldest first; responses come in this order (HR-047)."""

    @property
    def pending_fetches(self) -> int:
        """The number of pending requests whose response may carry a batch."""
        return sum([each.fetches for each in self.pending])

    @property
    def newest_sends(self) -> bool:
        """Return whether the newest pending request carries a batch."""
        return bool(self.pending and self.pending[-1].batch)

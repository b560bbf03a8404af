"""Records what the peer of a channel refused, and searches for the message that it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from reliquary.base.time import Duration, Instant
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.queueing.model.message import MessageClass


@dataclass(slots=True)
class RefusedMessageSearch:
    """The peer refused a batch because of one message: smaller batches show which message it is."""

    queue: int
    batch_limit: int
    """The most messages in a batch while the search lasts."""
    unverified: int
    """The number of messages of the refused batch that the peer has not taken yet."""


class RefusedBatch(NamedTuple):
    """The reason why a peer refuses the only message of a batch."""

    queue: int
    """The queue of the message."""
    reason: MessageClass
    why: str
    """The reason, in the words of the peer."""
    rest: Duration | None = None
    """Not None: the message stays, and its queue pauses for this time."""


@dataclass(slots=True)
class Refusals:
    """The refusals of the peer since the process started, and the limits that follow from them.

    `failures` writes it after an error; `flow_responses`, `outcomes` and `push` remove entries.
    """

    search: RefusedMessageSearch | None = None
    batches: dict[int, RefusedBatch] = field(default_factory=dict)
    """Batches of one message that the peer refuses, by their ids."""
    missing: dict[int, Instant] = field(default_factory=dict)
    """The time since when the peer does not have the queue that an outgoing queue leads to."""
    batch_limit: int = 0
    """The most messages that the peer takes in a batch, if that is less than was agreed; else 0."""
    single_requests: bool = False
    """The peer takes one request at a time, although it agreed to more."""

    def start_search(self, request: SentRequest) -> None:
        """Search for the refused message in batches of half the size.

        A batch of one message is the result.
        """
        if request.messages > 1:
            self.search = RefusedMessageSearch(request.queue, request.messages // 2, request.messages)
        else:
            self.search = None

    def continue_search(self, request: SentRequest, committed: tuple[int, ...]) -> None:
        """Count the messages of a refused batch that the peer has now taken; the last one ends the search."""
        search = self.search
        if search is not None and request.batch in committed:
            search.unverified -= request.messages
            if search.unverified <= 0:
                self.search = None

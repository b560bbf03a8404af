"""What is known of all channels: ids that were ever used on the wire, and what was forgotten when."""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.sim.between.register import Register
from reliquary.sim.history import Sending

Triple = tuple[str, str, str]
"""Requester, channel, responder."""


@dataclass(frozen=True, slots=True)
class Side:
    """One direction of a channel."""

    channel: Triple
    by_client: bool
    """The client is its source."""


class Channels(Register):
    """The channels of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.highest: dict[Side, int] = {}
        """The last id that left on the wire, in all time."""
        self.forgotten: dict[Triple, int] = {}
        """When a server last forgot what a client had sent."""
        self.fetched: dict[tuple[str, str], tuple[str, str]] = {}
        """Where messages end that are put into a queue from which another site fetches."""

    def whereto(self, sending: Sending) -> tuple[str, str]:
        """The site and the queue that a message is for, by its name or by who fetches it."""
        _, found, rest = sending.queue.partition("://")
        if not found:
            return self.fetched[self.home(sending), sending.queue]
        authority, _, path = rest.partition("/")
        return authority.casefold(), path.partition("#")[2].casefold()

"""What is known of all channels: ids that were ever used on the wire, and what was forgotten when."""

from __future__ import annotations

from dataclasses import dataclass

Triple = tuple[str, str, str]
"""A channel: its requester, its identifier and its responder."""


@dataclass(frozen=True, slots=True)
class Side:
    """One direction of a channel."""

    channel: Triple
    by_client: bool
    """The client is its source."""


class Channels:
    """The channels of a run."""

    def __init__(self) -> None:
        self.highest: dict[Side, int] = {}
        """The last id that left on the wire, in all time."""
        self.forgotten: dict[Triple, int] = {}
        """When a server last forgot what a client had sent."""

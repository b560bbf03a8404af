"""Collects, for all channels, the ids that were ever sent, and when servers forgot them."""

from __future__ import annotations

from dataclasses import dataclass

Triple = tuple[str, str, str]
"""A channel: its requester, its identifier and its responder."""


@dataclass(frozen=True, slots=True)
class Side:
    """One direction of a channel."""

    channel: Triple
    by_client: bool
    """Whether the client is the source of the batches."""


class Channels:
    """The channels of a run."""

    def __init__(self) -> None:
        self.highest: dict[Side, int] = {}
        """The last id that was sent, in the whole run."""
        self.forgotten: dict[Triple, int] = {}
        """When a server last forgot the batches of a client."""

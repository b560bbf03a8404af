"""Defines the session of a channel at its client, and the capabilities that both sides agreed on."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.base.time import MILLISECOND, Duration
from reliquary.protocols.httpr.codec.values import Capabilities


@dataclass(slots=True)
class Session:
    """The session of a channel; without one, requests follow each other under the agreed capabilities.

    `info` begins it, `flow_responses` takes capabilities if there is no session, and `failures` ends it.
    """

    identifier: str = ""
    """The name that the peer gave the session; empty while there is none."""
    proposed: Capabilities = field(default_factory=Capabilities)
    agreed: Capabilities = field(default_factory=Capabilities)
    """The capabilities in force; the defaults until a response was seen (HR-039)."""

    @property
    def longest_wait(self) -> Duration:
        """The longest time that the peer may wait for messages before it responds."""
        return Duration(self.agreed.max_wait_batch * MILLISECOND)

    @property
    def longest_empty_wait(self) -> Duration:
        """The longest time that the peer may wait for the first message (H-14)."""
        return Duration(min(self.agreed.empty_batch_delay, self.agreed.max_wait_batch) * MILLISECOND)

"""The settings of WS-ReliableMessaging; the defaults are those of WCF where it has one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import DAY, MINUTE, Duration, seconds
from reliquary.protocols.wsrm.codec.values import Dialect, Incomplete

LARGEST_WINDOW: Final = 4096


class Assurance(Enum):
    """The delivery guarantee of an endpoint for the messages of a sequence."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """Settings of the endpoint /wsrm/<name>."""

    name: str
    """The name; `*` at its end matches any rest of a name."""
    queue: str = ""
    """The destination of its messages: a queue, or a format name of another manager; empty for the queue
    of that name.
    """
    assurance: Assurance = Assurance.EXACTLY_ONCE
    """How often a message of a sequence is delivered."""
    ordered: bool = True
    """InOrder: a message is delivered after all messages with lower numbers."""
    window: int = 8
    """The initial BufferRemaining: how many messages a source may send ahead."""
    bounded: bool = False
    """Whether unread messages of the queue reduce BufferRemaining; if not, stored ones count as processed."""
    incomplete: Incomplete = Incomplete.NO_DISCARD
    """What is discarded when a sequence ends with a gap."""
    offers: bool = True
    """Whether sequences that clients offer for replies are accepted."""
    required: bool = True
    """Whether messages outside any sequence are refused with WSRMRequired; else they are taken."""

    def __post_init__(self) -> None:
        if not 1 <= self.window <= LARGEST_WINDOW:
            raise UsageError(
                f"the window of the endpoint {self.name} is 1 to {LARGEST_WINDOW}, not {self.window}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSettings:
    """Settings of our source for one destination, where they differ from the defaults."""

    address: str
    """`wsrm://host[:port]/path`; `*` at the end stands for any rest of the name."""
    url: str = ""
    """The URL of the destination; empty for the address as a URL."""
    to: str = ""
    """The value of wsa:To; empty: the URL."""
    dialect: Dialect = field(default_factory=Dialect)
    addressable: bool = False
    """Whether the peer sends acknowledgements as requests; if not, its responses contain them."""
    window: int = 64
    """How many messages may be unacknowledged, where BufferRemaining allows it."""
    offer: bool = False
    """Offer a sequence for replies; needs `replies_into`."""
    replies_into: str = ""
    """The queue for messages that come back."""

    def __post_init__(self) -> None:
        if not 1 <= self.window <= LARGEST_WINDOW:
            raise UsageError(f"the window to {self.address} is 1 to {LARGEST_WINDOW}, not {self.window}")
        if self.offer and not self.replies_into:
            raise UsageError(f"offer to {self.address} needs replies_into")


@dataclass(frozen=True, slots=True, kw_only=True)
class WsrmSettings:
    """An administrator sets these values for all sequences of WS-ReliableMessaging; peers and endpoints may
    have their own.
    """

    # -- destination
    endpoints: tuple[EndpointSettings, ...] = ()
    """Endpoints with settings of their own."""
    open_endpoints: bool = True
    """Whether each queue is an endpoint under its name, without being listed."""
    window: int = 8
    """The window of endpoints that are not listed."""
    acknowledgement_interval: Duration = field(default=seconds(0.2))
    """How long an acknowledgement to an address waits for further messages."""
    inactivity: Duration = field(default=Duration(10 * MINUTE))
    """A sequence is terminated when no request has named it for this time."""
    longest_life: Duration = field(default=Duration(30 * DAY))
    """The longest time for which a sequence is granted."""
    most_sequences: int = 1000
    """The most open sequences of one endpoint; one more is refused."""
    remembered: Duration = field(default=Duration(DAY))
    """How long an ended sequence is remembered, so that a late duplicate is not taken for a new message."""
    most_remembered: int = 100_000
    """The number of ended sequences that are remembered."""
    reply_wait: Duration = field(default=seconds(30))
    """How long a response waits for the reply of an application."""
    largest_message: int = 4 * 1024 * 1024
    """The largest body of a request, in bytes."""
    longest_identifier: int = 1024
    """Characters of the longest identifier that a peer may give."""
    # -- source
    peers: tuple[PeerSettings, ...] = ()
    """Destinations with settings of their own."""
    retransmission: Duration = field(default=seconds(2))
    """The first wait for an acknowledgement; each further wait is twice as long."""
    longest_retransmission: Duration = field(default=MINUTE)
    """The longest time between two retransmissions of a message."""
    retries: int = 8
    """How often a message without an acknowledgement is sent again before its sequence is given up."""
    polling: Duration = field(default=seconds(30))
    """The time between two polls: POLLING_TIMER, [MS-WSRVCRM] 3.2.2.1."""
    idle: Duration = field(default=Duration(5 * MINUTE))
    """A sequence is ended when it had no messages for this time."""
    response_time: Duration = MINUTE
    """How long a response may take."""
    # -- both
    seed: bytes = b""
    """The seed that makes our identifiers unpredictable; drawn when the server starts."""

    def __post_init__(self) -> None:
        for name in ("window", "acknowledgement_interval", "inactivity", "longest_life", "most_sequences",
                     "remembered", "most_remembered", "reply_wait", "largest_message", "longest_identifier",
                     "retransmission", "longest_retransmission", "retries", "polling", "idle",
                     "response_time"):  # fmt: skip
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
        if self.window > LARGEST_WINDOW:
            raise UsageError(f"window is 1 to {LARGEST_WINDOW}, not {self.window}")

    def endpoint(self, name: str) -> EndpointSettings | None:
        """Return the settings of an endpoint; None for a name that is no endpoint."""
        for each in self.endpoints:
            if _covers(each.name, name):
                return each
        return EndpointSettings(name=name, window=self.window) if self.open_endpoints and name else None

    def peer(self, address: str) -> PeerSettings:
        """Return the settings for `wsrm://host[:port]/path`."""
        for each in self.peers:
            if _covers(each.address, address):
                return each
        return PeerSettings(address=address)


def _covers(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern

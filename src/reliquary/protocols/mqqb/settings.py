"""Defines the settings of MQQB, [MS-MQQB] 3.1.1.3 and 3.1.2, with the numbers of Windows as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Duration, seconds
from reliquary.streams.ladder import RESEND_LADDER, Ladder

PORT: Final = 1801
"""The TCP port of every queue manager (QB-001, QB-002)."""
PING_PORT: Final = 3527
"""The UDP port of the ping service (QB-088)."""
LARGEST_PACKET: Final = 0x00400000
"""The bytes of a user packet without its SessionHeader (QB-012)."""
SMALLEST_ACK_WAIT: Final = seconds(20)
LARGEST_ACK_WAIT: Final = seconds(120)
"""The range of AckTimeout on the wire (QB-040)."""
LARGEST_WINDOW: Final = 0xFFFF
"""The largest WindowSize on the wire (QB-042)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MqqbSettings:
    """The settings of MQQB; the network uses some of them, and the machine uses the others."""

    port: int = PORT
    """The port of other managers, unless `ports` has another one for an address."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Other ports, by host in lower case as names of destinations have it, because no name has a port."""
    window: int = 64
    """WindowSize: packets that may be under way in one direction of a session (QB-158)."""
    most_bytes: int = 16 * 1024 * 1024
    """Bytes of packets that may be under way in one direction of a session, besides the window."""
    initialization: Duration = field(default=seconds(60))
    """The time that the handshake of a session may take (QB-136)."""
    cleanup: Duration = field(default=seconds(300))
    """A session that is idle for this time is closed (QB-137)."""
    retry: Duration = field(default=seconds(5))
    """The time before the next attempt after a failure (QB-138)."""
    ack_wait: Duration = field(default=SMALLEST_ACK_WAIT)
    """AckWaitTimeout: the sender expects an acknowledgement in this time (QB-160)."""
    ack_wait_factor: int = 2
    """The Session Ack Wait Timer runs for this multiple of `ack_wait` (QB-139)."""
    resend_ladder: Ladder = RESEND_LADDER
    """ResendTimerTable (QB-102, QB-145); the file with the settings survives failures (QB-103)."""
    order_ack: Duration = field(default=seconds(0.5))
    """OrderAckTimeout: how long an order acknowledgement waits for further messages (QB-142)."""
    longest_order_ack: Duration = field(default=seconds(10))
    """MaximumOrderAckDelay: how long it waits at most (QB-161)."""
    most_coalesced: int = 128
    """An order acknowledgement is sent at once when it confirms this many messages."""
    awaiting: int = 4096
    """Transactional messages of one outgoing queue that may wait for an order acknowledgement."""
    streams: int = 100_000
    """The most incoming streams that are kept, without end; messages of one more stay with their sender."""
    streams_per_address: int = 5000
    """How many of these streams may have brought their last message from one address."""
    senders: int = 25_000
    """Managers whose streams are kept; each may get an outgoing queue for acknowledgements."""
    refusals: int = 100_000
    """Final acknowledgements of refused messages that may wait for their senders.

    Beyond it, a message whose sender has not fetched all of its own is dropped, and its sender keeps it.
    """
    history_size: int = 200_000
    """How many identifiers of messages are kept, to find duplicates (QB-095)."""
    history_age: Duration = field(default=seconds(1800))
    """How long these identifiers count (QB-143)."""
    insecure_nacks: bool = False
    """SendInsecureNacks: whether all refusals are acknowledged, also those that help an attacker (QB-101)."""
    acks_from_anyone: bool = False
    """Whether an order or final acknowledgement counts from a peer that is not the receiver (G-65)."""
    sessions: int = 1000
    """The most sessions that peers may open at one time (QB-035)."""
    server_class: bool = False
    """What this manager says about its computer in EstablishConnection and in pings (QB-051, QB-077)."""
    ping: bool = False
    """Whether a ping is sent before a session is opened; Windows since Vista does not (QB-008)."""
    answer_pings: bool = False
    """Whether pings are answered (QB-088)."""
    ping_port: int = PING_PORT
    """The UDP port at which other managers are pinged."""
    largest_packet: int = LARGEST_PACKET
    """Bytes of a packet that is sent or accepted (QB-012)."""
    dialing: Duration = field(default=seconds(20))
    """How long the network tries to open one connection."""
    partial_packet: Duration = field(default=seconds(60))
    """How long a peer may take for one packet, from its first byte to its last."""

    def port_of(self, host: str) -> int:
        """Return the port that a session to this host is opened to."""
        return self.ports.get(host.casefold(), self.port)

    def __post_init__(self) -> None:
        for name in ("port", "ping_port", "window", "most_bytes", "initialization", "cleanup", "retry",
                     "ack_wait_factor", "order_ack", "longest_order_ack", "most_coalesced", "awaiting",
                     "streams", "streams_per_address", "senders", "refusals", "history_size",
                     "history_age", "sessions", "dialing", "partial_packet"):  # fmt: skip
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
        if self.window > LARGEST_WINDOW:
            raise UsageError(f"window is {self.window}, it must be at most {LARGEST_WINDOW}")
        if not SMALLEST_ACK_WAIT <= self.ack_wait <= LARGEST_ACK_WAIT:
            raise UsageError(
                f"ack_wait is {self.ack_wait / SECOND:g} s, it must be between {SMALLEST_ACK_WAIT / SECOND:g}"
                f" and {LARGEST_ACK_WAIT / SECOND:g} s"
            )
        if not self.resend_ladder or min(self.resend_ladder) < 1:
            raise UsageError("resend_ladder needs at least one span, each of a microsecond or more")
        if self.longest_order_ack < self.order_ack:
            raise UsageError(
                f"longest_order_ack is {self.longest_order_ack / SECOND:g} s, shorter than order_ack,"
                f" {self.order_ack / SECOND:g} s"
            )
        if not 1024 <= self.largest_packet <= LARGEST_PACKET:
            raise UsageError(
                f"largest_packet is {self.largest_packet}, it must be between 1024 and {LARGEST_PACKET}"
            )

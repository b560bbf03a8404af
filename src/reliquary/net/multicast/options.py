"""Defines the settings of multicast: the table [multicast].

[multicast]                        RELIQUARY_MULTICAST_...
interface = "eth1"                 a name, or an address of this computer
ttl = 8                            how many routers a packet may pass
rate = 70000                       bytes a second, for each group
encapsulation = "auto"             "raw", "udp", or raw if the process may and udp otherwise
source_port = 7500                 UDP: equal ports are what OpenPGM needs
group_port = 7500
mtu = 9000                         a network with jumbo frames
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.pgm.settings import PgmSettings

SMALLEST_MTU: Final = 576
"""The size of an IP packet that every IPv4 network carries (RFC 791 3.1)."""
LARGEST_MTU: Final = 65_000
HEADERS: Final = 32
"""The bytes of the headers of IP with Router Alert, and of UDP."""


class Encapsulation(Enum):
    """The way in which PGM packets are sent."""

    RAW = "raw"
    """Directly, over IP protocol 113. The process needs CAP_NET_RAW."""
    UDP = "udp"
    """Each in a UDP datagram."""
    AUTO = "auto"
    """RAW if the process has the right, otherwise UDP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticastOptions:
    """The settings of multicast and of its packets."""

    enabled: bool = True
    """Whether multicast is used; no socket is opened before a queue listens to a group or sends to one."""
    interface: str = ""
    """The network interface, by name or address; empty for the one that the system chooses."""
    ttl: int = 1
    """The time to live of packets; 1 keeps them in the local network."""
    rate: int = 70_000
    """The most bytes a second for each group (TXW_MAX_RTE)."""
    encapsulation: Encapsulation = Encapsulation.AUTO
    """How packets are sent: over IP protocol 113, in UDP datagrams, or the first if the process may."""
    source_port: int = 3055
    """UDP: the port at which sources receive requests for missing packets."""
    group_port: int = 3056
    """UDP: the port at which members of groups receive all other packets; it may be the source port too."""
    mtu: int = 1500
    """Bytes of the largest IP packet that is sent, with all headers; larger ones are received in any case."""

    def __post_init__(self) -> None:
        if not 0 <= self.ttl <= 255:
            raise UsageError(f"multicast.ttl is 0 to 255, not {self.ttl}")
        if not 1_000 <= self.rate <= 10_000_000_000:
            raise UsageError(f"multicast.rate is at least 1000 bytes a second, not {self.rate}")
        for name in ("source_port", "group_port"):
            if not 1 <= getattr(self, name) <= 65535:
                raise UsageError(f"multicast.{name} is 1 to 65535, not {getattr(self, name)}")
        if not SMALLEST_MTU <= self.mtu <= LARGEST_MTU:
            raise UsageError(f"multicast.mtu is {SMALLEST_MTU} to {LARGEST_MTU} bytes, not {self.mtu}")

    @property
    def protocol(self) -> PgmSettings:
        """The settings of the PGM machines."""
        return PgmSettings(rate=self.rate, largest_packet=self.mtu - HEADERS)

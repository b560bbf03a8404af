"""Holds the state that the connections of MQQB share: sessions, admitted networks, limits and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from enum import Enum
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Final

from reliquary.base.time import HOUR
from reliquary.base.turn import Event
from reliquary.net.tcp.budget import Budget
from reliquary.net.tcp.connections import Connections
from reliquary.protocols.mqqb.settings import MqqbSettings

if TYPE_CHECKING:
    from reliquary.net.mqqb.connection import SessionConnection

LEAST_UNJUDGED: Final = 256
"""The least number of packets of one session that may wait for the machine, for any window."""

AnyNetwork = IPv4Network | IPv6Network


class Count(Enum):
    """The events that are counted since the server started."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """Connections that were closed because there were too many, or because their address is not admitted."""
    MALFORMED = "malformed"
    """Connections that were closed because their bytes are no packets."""
    DIALLED = "dialled"
    DIAL_FAILED = "dial-failed"
    PACKETS_IN = "packets-in"
    PACKETS_OUT = "packets-out"
    BYTES_IN = "bytes-in"
    BYTES_OUT = "bytes-out"


class SessionShared(Connections["SessionConnection"]):
    """The part of the network that its connections see."""

    __slots__ = ("counts", "most_unjudged", "networks", "sessions", "settings", "submit")

    connections: dict[int, SessionConnection]

    def __init__(
        self,
        submit: Callable[[Event], None],
        settings: MqqbSettings,
        *,
        networks: Iterable[str],
        connections: int,
        now: int,
        budget: Budget | None = None,
    ) -> None:
        """`submit` takes events; only peers in `networks` may connect."""
        super().__init__(connections, HOUR, now, budget=budget)
        self.submit = submit
        self.settings = settings
        self.networks: tuple[AnyNetwork, ...] = tuple(ip_network(each) for each in networks)
        self.most_unjudged = max(LEAST_UNJUDGED, 2 * settings.window)
        """Packets that are read from a session before the machine has answered one of them."""
        self.sessions: dict[int, SessionConnection] = {}
        """The sessions that the machine knows, by their numbers."""
        self.counts: Counter[Count] = Counter()

    def admits(self, address: str) -> bool:
        """Return whether a peer with this address may connect."""
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(found in network for network in self.networks if network.version == found.version)


def plain_address(address: str) -> str:
    """Return an address in lower case; an IPv4 address in the form of IPv6 becomes plain.

    >>> plain_address("::ffff:10.0.0.7"), plain_address("FE80::1")
    ('10.0.0.7', 'fe80::1')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address.lower()
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)

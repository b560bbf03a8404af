r"""Reads the table [mqqb] of the settings: messages over the binary protocol of MSMQ.

    [mqqb]                                      RELIQUARY_MQQB_...
    enabled = true                              RELIQUARY_MQQB_ENABLED=true
    networks = ["10.1.0.0/16"]                  who may connect; only private networks by default
    addresses = ["192.0.2.7"]                   addresses that mean this server, besides its own
    names = ["queues.example.com"]              host names that mean this server
    window = 64
    ports = {"10.1.0.9" = 11801}                for peers that do not listen at 1801

The names are those of `MqqbOptions` and of the protocol's own `MqqbSettings`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.server.protocol_table import protocol_table
from reliquary.server.values import check_authority, check_reach

if TYPE_CHECKING:
    from reliquary.server.config import Settings

LAST_PORT: Final = 65535
PRIVATE_NETWORKS: Final = (
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
)
"""The networks that may connect by default, because no peer is authenticated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MqqbOptions:
    """The settings of MQQB in a server; `protocol` has those of the protocol itself."""

    enabled: bool = False
    """Messages come from other managers over MQQB, and go to `DIRECT=OS:` and `DIRECT=TCP:` names."""
    host: str = ""
    """The address to listen at; empty for the address of the data plane."""
    listen_port: int | None = None
    """The port to listen at; None for `port`, the port of other managers."""
    networks: tuple[str, ...] = PRIVATE_NETWORKS
    """The networks that peers may connect from; all others are closed without an answer."""
    addresses: tuple[str, ...] = ()
    """Further IP addresses that mean this server in `DIRECT=TCP:` names, such as that of a gateway."""
    names: tuple[str, ...] = ()
    """Further host names that mean this server in `DIRECT=OS:` names."""
    connections: int = 2048
    """The most connections at one time, of both directions; one more is refused."""
    anonymous_senders: bool = False
    """New queues take messages from every sender; where there are no users, they do so anyway."""
    protocol: MqqbSettings = field(default_factory=MqqbSettings)

    def __post_init__(self) -> None:
        if self.listen_port is not None and not 0 <= self.listen_port <= LAST_PORT:
            raise UsageError(f"mqqb.listen_port is {self.listen_port}, it must be 0 to {LAST_PORT}")
        if self.connections < 1:
            raise UsageError(f"mqqb.connections is {self.connections}, it must be at least 1")
        for network in self.networks:
            _check("mqqb.networks", network, "a network such as 10.1.0.0/16")
        for address in self.addresses:
            _check("mqqb.addresses", address, "an IP address such as 10.1.0.7", is_address=True)
        for name in self.names:
            check_authority("mqqb.names", name)
        for host, port in self.protocol.ports.items():
            if not 1 <= port <= LAST_PORT:
                raise UsageError(f"mqqb.ports has {port} for {host}, it must be 1 to {LAST_PORT}")

    def check(self, settings: Settings) -> None:
        """Refuse an address that is open to a network, unless users are named or that is wanted."""
        if self.host:
            check_reach("mqqb.host", self.host, settings)

    @property
    def own_port(self) -> int:
        """The port at which the server listens."""
        return self.protocol.port if self.listen_port is None else self.listen_port


def _check(where: str, text: str, what: str, *, is_address: bool = False) -> None:
    try:
        if is_address:
            ip_address(text)
        else:
            ip_network(text)
    except ValueError as why:
        raise UsageError(f"{where} has {text[:80]!r}, which is not {what}: {why}") from why


def _ports(value: object) -> dict[str, int]:
    """Return the ports by host, in lower case."""
    return {host.casefold(): port for host, port in msgspec.convert(value, dict[str, int]).items()}


TABLE: Final = protocol_table("mqqb", MqqbOptions, MqqbSettings, {"ports": _ports})
NAMES: Final = TABLE.names

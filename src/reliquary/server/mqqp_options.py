r"""Reads the table [mqqp] of the settings: remote readers of local queues, and reads of remote queues.

    [mqqp]                                      RELIQUARY_MQQP_...
    enabled = true                              RELIQUARY_MQQP_ENABLED=true
    mapper_port = 135                           for questions about the other ports; off by default
    protection = "integrity"                    none, connect, packet, integrity or privacy
    [[mqqp.servers]]
    name = "far"                                the host in DIRECT=OS:far\private$\orders; `*` for all others
    host = "10.0.0.5"
    user = "CORP\\reader"
    password = "..."

The names are those of `MqqpOptions` and of the protocol's own `MqqpSettings`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration, seconds
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.server.protocol_table import protocol_table, rows
from reliquary.server.values import check_reach
from reliquary.wire.rpc.protection import Protection

if TYPE_CHECKING:
    from reliquary.server.config import Settings

HANDSHAKE_PORT: Final = 2103
READ_PORT: Final = 2105
LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class MqqpOptions:
    """The settings of MQQP in a server; `protocol` has those of the protocol itself."""

    enabled: bool = False
    """Other managers may read queues here, and queues of other managers can be read from here."""
    host: str = ""
    """The address to listen at; empty for the address of the data plane."""
    handshake_port: int = HANDSHAKE_PORT
    """The port at which queues are opened, IP_HANDSHAKE; if it is in use, the port 11 above it is tried."""
    read_port: int = READ_PORT
    """The port at which queues are read, IP_READ; if it is in use, the port 11 above it is tried."""
    mapper_port: int | None = None
    """The port of the endpoint mapper, always 135; None if another program listens there."""
    connections: int = 1024
    """The most connections at one time; one more is refused."""
    contexts: int = 32
    """The most presentation contexts of one connection."""
    calls: int = 64
    """The most calls of one connection that have no answer yet."""
    idle_time: Duration = field(default=seconds(600))
    """How long a connection without an open queue or a call may be idle."""
    protocol: MqqpSettings = field(default_factory=MqqpSettings)

    def __post_init__(self) -> None:
        for name in ("handshake_port", "read_port", "mapper_port"):
            port = getattr(self, name)
            if port is not None and not 0 <= port <= LAST_PORT:
                raise UsageError(f"mqqp.{name} is {port}, it must be 0 to {LAST_PORT}")
        for name in ("connections", "contexts", "calls", "idle_time"):
            if getattr(self, name) < 1:
                raise UsageError(f"mqqp.{name} is {getattr(self, name)}, it must be at least 1")
        seen: set[str] = set()
        for server in self.protocol.servers:
            if not server.name or server.name.casefold() in seen:
                raise UsageError(f"mqqp.servers has the name {server.name!r}, which is empty or there twice")
            if bool(server.user) != bool(server.password):
                raise UsageError(f"mqqp.servers: user and password of {server.name} belong together")
            seen.add(server.name.casefold())

    def check(self, settings: Settings) -> None:
        """Refuse open ports, and a protection that no user can have because none has an NT hash."""
        if self.host:
            check_reach("mqqp.host", self.host, settings)
        known = any(user.nt_hash for user in settings.users)
        if self.enabled and self.protocol.protection is not Protection.NONE and not known:
            word = self.protocol.protection.name.lower()
            raise UsageError(f"mqqp.protection is {word!r}, and no user has an nt_hash to log on with")


def protection_named(word: object) -> Protection:
    """Return the level of a word."""
    name = msgspec.convert(word, str).upper()
    if name not in Protection.__members__:
        known = ", ".join(each.name.lower() for each in Protection)
        raise UsageError(f"a protection is {known}, not {str(word)[:80]!r}")
    return Protection[name]


def _server(*, protection: str = "", **fields: Any) -> ServerSettings:
    if protection:
        fields["protection"] = protection_named(protection)
    return ServerSettings(**fields)


_SERVER: Final[dict[str, Any]] = get_type_hints(ServerSettings) | {"protection": str}

TABLE: Final = protocol_table(
    "mqqp",
    MqqpOptions,
    MqqpSettings,
    {"servers": rows(_server, _SERVER)},
    hidden=("seed",),
    words={"protection": protection_named},
)
NAMES: Final = TABLE.names

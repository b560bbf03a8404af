"""Reads the table [wsrm] of the settings: WS-ReliableMessaging.

    [wsrm]                                      RELIQUARY_WSRM_...
    origin = "https://mq.example"               RELIQUARY_WSRM_ORIGIN=https://mq.example
    retransmission = 2                          all spans are seconds
    endpoints = [{name = "in", queue = "orders", window = 32, bounded = true}]
    [[wsrm.peers]]
    address = "wsrm://far.example/service"      `*` at the end stands for any rest
    version = "1.0"                             1.0, 1.1 or 1.2
    soap = "1.1"                                1.1 or 1.2
    addressing = "2004/08"                      2004/08 or 1.0

The names are those of `WsrmOptions` and of the protocol's own `WsrmSettings`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, get_type_hints

from reliquary.base.faults import UsageError
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Soap, Version
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings
from reliquary.server.http_options import HttpOptions
from reliquary.server.protocol_table import protocol_table, rows
from reliquary.server.values import (
    AUTHORITY,
    WORD,
    check_queues,
    check_url,
)

if TYPE_CHECKING:
    from reliquary.server.config import Settings

_ADDRESS: Final = re.compile(rf"wsrms?://({AUTHORITY}(/[!-)+-~]*)?\*?|[A-Za-z0-9._-]*\*)")
_USUAL: Final = Dialect()
_VERSIONS: Final = {"1.0": Version.RM10, "1.1": Version.RM11, "1.2": Version.RM11}


@dataclass(frozen=True, slots=True, kw_only=True)
class WsrmOptions(HttpOptions):
    """The settings of WS-RM in a server; `protocol` has those of the protocol itself."""

    protocol: WsrmSettings = field(default_factory=WsrmSettings)

    def __post_init__(self) -> None:
        self.check_names("wsrm", ("http", "https"))
        _check_endpoints(self.protocol)
        _check_peers(self.protocol)
        if self.protocol.retransmission > self.protocol.longest_retransmission:
            raise UsageError("wsrm.retransmission is longer than wsrm.longest_retransmission")

    def check(self, settings: Settings) -> None:
        """Refuse queues of endpoints and peers whose names this computer cannot have."""
        here = settings.computer_name
        check_queues("wsrm.endpoints", [each.queue for each in self.protocol.endpoints], here, onward=True)
        check_queues("wsrm.peers", [each.replies_into for each in self.protocol.peers], here)


def _check_endpoints(chosen: WsrmSettings) -> None:
    _check_twice("wsrm.endpoints", [each.name for each in chosen.endpoints])
    for each in chosen.endpoints:
        if not each.name or each.name.startswith("/") or "*" in each.name[:-1]:
            shape = "a name such as orders or private$/orders, with a * only at its end"
            raise UsageError(f"wsrm.endpoints has {each.name[:80]!r}, which is not {shape}")


def _check_peers(chosen: WsrmSettings) -> None:
    _check_twice("wsrm.peers", [each.address for each in chosen.peers])
    for each in chosen.peers:
        if not _ADDRESS.fullmatch(each.address):
            shape = "an address such as wsrm://host:port/path, with a * only at its end"
            raise UsageError(f"wsrm.peers has {each.address[:80]!r}, which is not {shape}")
        if each.url:
            check_url("wsrm.peers", each.url)
        if each.to and not WORD.fullmatch(each.to):
            raise UsageError(f"wsrm.peers has to = {each.to[:80]!r}, which is not a URI")


def _check_twice(where: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{where} has {name[:80]!r} twice")


# -- from text


_PEER: Final[dict[str, Any]] = {
    name: hint for name, hint in get_type_hints(PeerSettings).items() if name != "dialect"
} | {"version": Literal["1.0", "1.1", "1.2"], "soap": Soap, "addressing": Addressing}


def _peer(
    *,
    version: str = _USUAL.version.value,
    soap: Soap = _USUAL.soap,
    addressing: Addressing = _USUAL.addressing,
    **fields: Any,
) -> PeerSettings:
    return PeerSettings(dialect=Dialect(_VERSIONS[version], soap, addressing), **fields)


TABLE: Final = protocol_table(
    "wsrm",
    WsrmOptions,
    WsrmSettings,
    {
        "endpoints": rows(EndpointSettings, get_type_hints(EndpointSettings)),
        "peers": rows(_peer, _PEER),
    },
    hidden=("seed",),
)
NAMES: Final = TABLE.names

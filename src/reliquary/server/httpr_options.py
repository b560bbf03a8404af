"""Reads the table [httpr] of the settings: batches of messages over HTTP.

    [httpr]                                     RELIQUARY_HTTPR_...
    origin = "httpr://mq.example"               RELIQUARY_HTTPR_ORIGIN=httpr://mq.example
    forward = true                              RELIQUARY_HTTPR_FORWARD=true
    retry_ladder = [1, 5, 60]                   all spans are seconds
    services = [{name = "in", into = "orders"}]
    peers = [{responder = "httpr://far.example/httpr/mq", pull = true, into = "orders"}]
    offered = {maximum_batch_size = 100, flows = ["PUSH"]}      other values keep their defaults

The names are those of `HttprOptions` and of the protocol's own `HttprSettings`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.addresses import read_target
from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import OFFERED, PROPOSED, HttprSettings, Peer, Service
from reliquary.server.http_options import HttpOptions
from reliquary.server.protocol_table import fields_of, protocol_table, rows
from reliquary.server.values import (
    WORD,
    check_queues,
    check_url,
)

if TYPE_CHECKING:
    from reliquary.server.config import Settings

_LARGEST: Final = 2**31 - 1
_LEAST: Final = {
    "idle_session_interval": 1,
    "maximum_message_size": 1,
    "maximum_batch_size": 1,
    "maximum_pipeline_depth": 1,
}
"""Capabilities that cannot be 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttprOptions(HttpOptions):
    """The settings of HTTPR in a server; `protocol` has those of the protocol itself."""

    protocol: HttprSettings = field(default_factory=HttprSettings)

    def __post_init__(self) -> None:
        self.check_names("httpr", ("httpr", "httprs"))
        _check_protocol(self.protocol)

    def check(self, settings: Settings) -> None:
        """Refuse queues of services and peers whose names this computer cannot have."""
        services, peers = self.protocol.services, self.protocol.peers
        here = settings.computer_name
        check_queues("httpr.services", [each.source for each in services], here)
        check_queues("httpr.services", [each.into for each in services], here, onward=True)
        check_queues("httpr.peers", [each.into for each in peers], here, onward=True)


def _check_protocol(chosen: HttprSettings) -> None:
    if not chosen.manager_service or "/" in chosen.manager_service:
        raise UsageError(f"httpr.manager_service is a name without /, not {chosen.manager_service[:80]!r}")
    services = [service.name for service in chosen.services]
    for name in services:
        if not name:
            raise UsageError("httpr.services has one without a name")
        if services.count(name) > 1 or name == chosen.manager_service:
            raise UsageError(f"httpr.services has {name[:80]!r} twice, or as manager_service too")
    if chosen.requester:
        _check_agent("httpr.requester", chosen.requester)
    responders = [peer.responder for peer in chosen.peers]
    for peer in chosen.peers:
        _check_agent("httpr.peers", peer.responder)
        if responders.count(peer.responder) > 1:
            raise UsageError(f"httpr.peers has {peer.responder[:80]!r} twice")
        if peer.url:
            check_url("httpr.peers", peer.url)
        elif not _is_found(peer.responder):
            raise UsageError(f"httpr.peers has {peer.responder[:80]!r}, which has no host: a url is missing")
    for where, capabilities in (("offered", chosen.offered), ("proposed", chosen.proposed)):
        _check_capabilities(where, capabilities)


def _check_agent(where: str, name: str) -> None:
    if not WORD.fullmatch(name) or "#" in name or read_target(name) is None:
        raise UsageError(f"{where} has {name[:80]!r}, which is not like httpr://host:port/service")


def _is_found(responder: str) -> bool:
    target = read_target(responder)
    return target is not None and bool(target.authority)


def _check_capabilities(where: str, chosen: Capabilities) -> None:
    for name, hint in _CAPABILITIES.items():
        value, least = getattr(chosen, name), _LEAST.get(name, 0)
        if hint is int and not least <= value <= _LARGEST:
            raise UsageError(f"httpr.{where}.{name} is {least} to {_LARGEST}, not {value}")
    if not chosen.flows:
        raise UsageError(f"httpr.{where}.flows has at least one of PUSH, PULL and EXCHANGE")
    if not (chosen.sessions or chosen.sessionless):
        raise UsageError(f"httpr.{where} has sessions or sessionless, or both")  # HR-099


# -- from text


_CAPABILITIES: Final = {
    name: hint for name, hint in get_type_hints(Capabilities).items() if name != "product"
}


def _changed(usual: Capabilities) -> Callable[[object], Capabilities]:
    def read(value: object) -> Capabilities:
        return msgspec.structs.replace(usual, **fields_of("capability", value, _CAPABILITIES))

    return read


TABLE: Final = protocol_table(
    "httpr",
    HttprOptions,
    HttprSettings,
    {
        "services": rows(Service, get_type_hints(Service)),
        "peers": rows(Peer, get_type_hints(Peer)),
        "offered": _changed(OFFERED),
        "proposed": _changed(PROPOSED),
    },
)
NAMES: Final = TABLE.names

"""The table [httpr] of the settings: batches of messages over HTTP.

    [httpr]                                     RELIQUARY_HTTPR_...
    origin = "httpr://mq.example"               RELIQUARY_HTTPR_ORIGIN=httpr://mq.example
    forward = true                              RELIQUARY_HTTPR_FORWARD=true
    retry_ladder = [1, 5, 60]                   all spans are seconds
    services = [{name = "in", into = "orders"}]
    peers = [{responder = "httpr://far.example/httpr/mq", pull = true, into = "orders"}]
    offered = {maximum_batch_size = 100, flows = ["PUSH"]}      what is not said stays as it is

The names are those of `HttprOptions` and of the protocol's own `HttprSettings`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_origin, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration
from reliquary.protocols.httpr.addresses import read_target
from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import OFFERED, PROPOSED, HttprSettings, Peer, Service
from reliquary.queueing.naming.names import parse
from reliquary.server.table import Table
from reliquary.server.values import (
    AUTHORITY,
    as_path,
    check_authority,
    check_together,
    check_url,
    make_options,
    span,
)

if TYPE_CHECKING:
    from reliquary.server.config import Settings

_ORIGIN: Final = re.compile("httprs?://" + AUTHORITY)
_CONTACT: Final = re.compile("https?://" + AUTHORITY)
_AGENT: Final = re.compile(r"[!-~]+")
_LARGEST: Final = 2**31 - 1
_LEAST: Final = {
    "idle_session_interval": 1,
    "maximum_message_size": 1,
    "maximum_batch_size": 1,
    "maximum_pipeline_depth": 1,
}
"""Capabilities that cannot be 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttprOptions:
    """The settings of HTTPR in a server; `protocol` has those of the protocol itself."""

    enabled: bool = True
    """Batches come and go by HTTP."""
    origin: str = ""
    """How the names of our agents begin, for all time; empty for our own name and port."""
    names: tuple[str, ...] = ()
    """Other names, `host` or `host:port`, under which URIs mean this manager."""
    ca_file: Path | None = None
    """PEM certificates that servers of other agents are trusted by, in place of the system's."""
    certificate: Path | None = None
    """A PEM file: who we are to servers that want to know by TLS."""
    key: Path | None = None
    tokens: dict[str, str] = field(default_factory=dict)
    """Who we are to servers with users: a bearer token by the origin, such as `https://far.example`."""
    protocol: HttprSettings = field(default_factory=HttprSettings)

    def __post_init__(self) -> None:
        if self.origin and not _ORIGIN.fullmatch(self.origin):
            raise UsageError(
                f"httpr.origin is {self.origin[:80]!r}, which is not like httpr://host or httpr://host:port"
            )
        for name in self.names:
            check_authority("httpr.names", name)
        for origin, token in self.tokens.items():
            if not _CONTACT.fullmatch(origin):
                raise UsageError(f"httpr.tokens has {origin[:80]!r}, which is not like https://host:port")
            if not _AGENT.fullmatch(token):
                raise UsageError(f"httpr.tokens has a token for {origin} that is no printable word")
        check_together("httpr", "certificate", self.certificate, "key", self.key)
        _check_protocol(self.protocol)

    def check(self, settings: Settings) -> None:
        """Refuse queues of services and peers whose names this computer cannot have."""
        queues = [
            ("services", queue) for each in self.protocol.services for queue in (each.into, each.source)
        ]
        queues += [("peers", each.into) for each in self.protocol.peers]
        for table, queue in queues:
            if queue:
                try:
                    parse(queue, settings.computer_name)
                except UsageError as why:
                    raise UsageError(f"httpr.{table} has the queue {queue[:80]!r}: {why}") from why


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
    if not _AGENT.fullmatch(name) or "#" in name or read_target(name) is None:
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


_OWN: Final = {name: hint for name, hint in get_type_hints(HttprOptions).items() if name != "protocol"}
_PROTOCOL: Final = get_type_hints(HttprSettings)
_CAPABILITIES: Final = {
    name: hint for name, hint in get_type_hints(Capabilities).items() if name != "product"
}
_USUAL: Final = {"offered": OFFERED, "proposed": PROPOSED}
_TABLES: Final[dict[object, type]] = {tuple[Service, ...]: Service, tuple[Peer, ...]: Peer}
_WRITTEN: Final[dict[object, object]] = {Duration: float, tuple[Duration, ...]: tuple[float, ...]}
"""How a value of the protocol's settings is written where it is not written as it is."""
NAMES: Final = (*_OWN, *_PROTOCOL)


def is_list(name: str) -> bool:
    """Whether a setting of the table has several values."""
    return get_origin(_OWN.get(name) or _PROTOCOL.get(name)) is tuple


def is_for_the_file(name: str) -> bool:
    """Whether a setting cannot be said in one line."""
    return _PROTOCOL.get(name) in _TABLES or name in _USUAL or name == "tokens"


def convert(name: str, value: object, *, strict: bool) -> Any:
    """The value of one setting; ValidationError or UsageError says what is wrong with it."""
    if name in _OWN:
        return msgspec.convert(value, _OWN[name], strict=strict, dec_hook=as_path)
    if name in _USUAL:
        return msgspec.structs.replace(_USUAL[name], **_part("capability", value, _CAPABILITIES))
    hint: Any = _PROTOCOL[name]
    if hint in _TABLES:
        kind = _TABLES[hint]
        rows = msgspec.convert(value, list[dict[str, Any]])
        return tuple(_row(kind, row) for row in rows)
    found = msgspec.convert(value, _WRITTEN.get(hint, hint), strict=strict)
    if hint is Duration:
        return span(found)
    return tuple(map(span, found)) if hint == tuple[Duration, ...] else found


def _row(kind: type, row: dict[str, Any]) -> Any:
    hints = get_type_hints(kind)
    needed = next(iter(hints))
    if needed not in row:
        raise UsageError(f"each has a {needed}, and one has none")
    return kind(**_part("field", row, hints))


def _part(what: str, value: object, hints: Mapping[str, Any]) -> dict[str, Any]:
    """Some of the fields that there are, each as it must be."""
    found = {}
    for name, each in msgspec.convert(value, dict[str, Any]).items():
        if name not in hints:
            raise UsageError(f"there is no {what} {name[:80]!r}; these are {', '.join(hints)}")
        try:
            found[name] = msgspec.convert(each, hints[name])
        except msgspec.ValidationError as why:
            raise UsageError(f"{name}: {why}") from why
    return found


def options(values: Mapping[str, Any]) -> HttprOptions:
    """Return the table of values that were converted."""
    return make_options("httpr", values, _OWN, HttprOptions, HttprSettings)


TABLE: Final = Table(
    name="httpr",
    names=NAMES,
    convert=convert,
    options=options,
    is_list=is_list,
    is_for_the_file=is_for_the_file,
)

"""Finds the names by which clients and peers reach a server."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from reliquary.net.host import host_name, is_loopback
from reliquary.net.identity.hosts import host_of
from reliquary.server.config import Settings
from reliquary.server.http_options import HttpOptions
from reliquary.server.srmp_options import SrmpOptions

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
USUAL_PORTS: Final = {"http": 80, "https": 443}
EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})


@dataclass(frozen=True, slots=True)
class Listening:
    """An address at which requests are accepted."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The URL of this address."""
        return f"{self.scheme}://{bracketed(self.host)}:{self.port}"

    def authority(self, name: str) -> str:
        """Return this address in the form of a URL, with one of the own host names."""
        return name if self.port == USUAL_PORTS[self.scheme] else f"{name}:{self.port}"


def own_name(settings: Settings, listening: Sequence[Listening]) -> str:
    """Return the own name for others: `localhost` on the loopback, otherwise the name of the computer."""
    if all(is_loopback(each.host) for each in listening):
        return "localhost"
    return settings.computer_name


def authorities(settings: Settings, listening: Sequence[Listening], given: Set[str]) -> frozenset[str]:
    """Return all own names, each alone and with each own port; given names may have a port."""
    names = {settings.computer_name, host_name(), *LOOPBACK}
    if settings.domain:
        names.add(f"{settings.computer_name}.{settings.domain}")
    names |= {bracketed(each.host) for each in listening if each.host not in EVERYWHERE}
    whole = {name for name in given if has_port(name)}
    names |= given - whole
    whole |= names | {f"{name}:{each.port}" for name in names for each in listening}
    return frozenset(name.lower() for name in whole)


def host_names(settings: Settings, listens_at: str) -> frozenset[str]:
    """Return all hosts by which clients of the API may name a server that listens at an address."""
    names = {settings.computer_name, host_name(), listens_at, *settings.names}
    if settings.domain:
        names.add(f"{settings.computer_name}.{settings.domain}")
    if is_loopback(listens_at) or listens_at in EVERYWHERE:
        names.add("localhost")
    for table in settings.tables:
        if isinstance(table, HttpOptions):
            names |= {*table.names, table.origin.partition("://")[2]}
        elif isinstance(table, SrmpOptions):
            names |= {*table.names, table.protocol.receipts_host}
    return frozenset(host_of(name) for name in names if name)


def has_port(authority: str) -> bool:
    """Return whether an authority names a port.

    >>> has_port("[::1]"), has_port("mq.example:8480")
    (False, True)
    """
    return ":" in authority.rpartition("]")[2]


def bracketed(host: str) -> str:
    """Return a host in the form of a URL: an IPv6 address is in brackets."""
    return f"[{host}]" if ":" in host else host

"""The endpoint of one protocol in a server that was built."""

from __future__ import annotations

from typing import TypeVar

from reliquary.server.build import Server
from reliquary.server.endpoint import Endpoint, SwitchedOff

Kind = TypeVar("Kind", bound=Endpoint)


def endpoint_of(server: Server, kind: type[Kind]) -> Kind:
    """Return the only endpoint of this class."""
    [found] = [each for each in server.endpoints if isinstance(each, kind)]
    return found


def switched_off(server: Server, protocol: str) -> SwitchedOff:
    """Return the endpoint of a protocol that is switched off, by the first word of its counters."""
    [found] = [
        each
        for each in server.endpoints
        if isinstance(each, SwitchedOff)
        and all(family.name.startswith(f"{protocol}_") for family in each.counters())
    ]
    return found

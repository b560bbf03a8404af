"""The endpoint of one protocol in a server that was built."""

from __future__ import annotations

from typing import TypeVar

from reliquary.server.build import Server
from reliquary.server.endpoint import Endpoint

Kind = TypeVar("Kind", bound=Endpoint)


def endpoint_of(server: Server, kind: type[Kind]) -> Kind:
    """The only one of its kind."""
    [found] = [each for each in server.endpoints if isinstance(each, kind)]
    return found

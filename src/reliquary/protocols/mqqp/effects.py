"""Defines what the machine of MQQP requests from the network."""

from __future__ import annotations

from reliquary.base.turn import Effect
from reliquary.protocols.mqqp.codec.qm2qm import Request, Response


class Respond(Effect, frozen=True, gc=False):
    """Answer a call; nothing happens if its connection has ended."""

    connection: int
    call: int
    response: Response


class RaiseFault(Effect, frozen=True, gc=False):
    """Answer a call with a fault PDU."""

    connection: int
    call: int
    status: int


class EndAssociation(Effect, frozen=True, gc=False):
    """Close all connections of a client; `AssociationLost` follows."""

    association: int


class CallServer(Effect, frozen=True, gc=False):
    """Call a method of another manager; the first call of a link opens its connections."""

    link: int
    call: int
    """Unique among the calls of its link."""
    server: str
    """The host as in the queue's name; `settings.ServerSettings` may name another one."""
    port: int
    """The port of the interface; 0 for the port that the endpoint mapper returns, or the well-known port."""
    request: Request


class EndLink(Effect, frozen=True, gc=False):
    """Close the connections of a link; calls without an answer get none, and no `LinkLost` follows."""

    link: int

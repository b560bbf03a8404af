"""Defines the events from the network for the machine of MQQP.

A *connection* is one accepted TCP connection, an *association* the connections of one client that share
context handles (C706 9.3.2); a *link* is a connection that this manager opened to another one for one
opened queue.
"""

from __future__ import annotations

from reliquary.base.turn import Event
from reliquary.protocols.mqqp.codec.qm2qm import Request, Response
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.rpc.protection import Protection


class PortsKnown(Event, frozen=True, gc=False):
    """The server listens for its interfaces at these ports (QP-117).

    0 for an interface that is not offered.
    """

    handshake: int = 0
    read: int = 0


# -- clients on other computers read our queues


class ClientBound(Event, frozen=True, gc=False):
    """A connection may call an interface from now on; a connection may be bound several times."""

    association: int
    connection: int
    peer: str
    interface: str
    """The interface of the call: `qm2qm` or `qmcomm`."""


class ClientCalled(Event, frozen=True, gc=False):
    """A client called a method; the call is answered by `Respond` or `RaiseFault`."""

    association: int
    connection: int
    call: int
    request: Request
    by: Principal = ANONYMOUS
    protection: Protection = Protection.NONE


class CallCancelled(Event, frozen=True, gc=False):
    """A client cancels its call; it still needs an answer, unless it has forgotten the call."""

    connection: int
    call: int
    forgotten: bool = False


class ConnectionLost(Event, frozen=True, gc=False):
    """A connection is lost: its calls get no answers, and its waiting reads must take no message."""

    connection: int


class AssociationLost(Event, frozen=True, gc=False):
    """The last connection of an association is gone: its context handles are run down (QP-140 to QP-142)."""

    association: int


# -- we read queues of other servers


class ServerResponded(Event, frozen=True, gc=False):
    """A server has responded to a call of this manager."""

    link: int
    call: int
    response: Response


class ServerFaulted(Event, frozen=True, gc=False):
    """A server has refused a call of this manager, or its method raised a status; the link stays."""

    link: int
    call: int
    status: int


class LinkLost(Event, frozen=True, gc=False):
    """A link is lost with all its calls, or could not be made; the server runs its handles down."""

    link: int
    failure: Failure
    why: str = ""


# -- a request of administrators; the answer is a `Done`


class CloseAssociation(Event, frozen=True, gc=False):
    """Close the object that `reliquary rpc list` shows under this name.

    Connections, handles and waiting reads.
    """

    to: int
    name: str

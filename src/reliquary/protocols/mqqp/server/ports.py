"""Answers questions for ports and the version, [MS-MQQP] 3.1.4.8 and 3.1.4.9, [MS-MQMP] 3.1.4.24."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import PortKind, PortReturned, VersionReturned
from reliquary.protocols.mqqp.events import ClientCalled, PortsKnown
from reliquary.protocols.mqqp.server.responding import respond
from reliquary.protocols.mqqp.state import State

VERSION: Final = VersionReturned(6, 1, 7601)
"""The version of this server: clients then call opnums 9 and 10 too (QP-119 to QP-121, F-01)."""

PORTS: Final[Mapping[int, str]] = {
    PortKind.HANDSHAKE: "handshake",
    PortKind.READ: "read",
}
"""The port of `PortsKnown` that each kind means; SPX is not supported (QP-003)."""


def on_ports_known(state: State, event: PortsKnown, now: Instant) -> None:
    """Store the ports at which the server listens for its interfaces (QP-117)."""
    del now
    state.ports = event


def get_port(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQMGetQMQMServerPort and R_QMGetRTQMServerPort: return the port of an interface."""
    del now
    request = called.request
    assert isinstance(request, qm2qm.GetServerPort | qmcomm.GetServerPort)
    name = PORTS.get(request.kind)
    port = 0 if name is None else int(getattr(state.ports, name))  # QP-116
    respond(state, called, PortReturned(port))


def get_version(state: State, called: ClientCalled, now: Instant) -> None:
    """RemoteQmGetVersion: return the version of this server."""
    del now
    respond(state, called, VERSION)

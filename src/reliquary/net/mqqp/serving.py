"""Serves calls of other managers: stubs become events of the machine, and its answers become stubs.

    RpcListener --called--> Serving --ClientCalled--> engine
                <--respond--        <--Respond, RaiseFault--

A stub that cannot be read is answered here, and the machine never gets the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from reliquary.base.turn import Event
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.identity.users import NotKnown, Users
from reliquary.net.rpc.listener import RpcListener
from reliquary.protocols.mqqp.codec.stubs import StubFault, UnknownOpnum, decode_request, encode_response
from reliquary.protocols.mqqp.effects import EndAssociation, RaiseFault, Respond
from reliquary.protocols.mqqp.events import (
    AssociationLost,
    CallCancelled,
    ClientBound,
    ClientCalled,
    ConnectionLost,
)
from reliquary.protocols.rpc.events import Bound, Called
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId

INTERFACES: Final[Mapping[SyntaxId, str]] = {QM2QM: "qm2qm", QMCOMM: "qmcomm"}
"""The interfaces that are served, with their names."""


class Serving:
    """The service of both interfaces; `listener` is set before the first call."""

    def __init__(self, engine: Engine, users: Users) -> None:
        self._engine = engine
        self._users = users
        self._encodings: dict[int, dict[int, Encoding]] = {}
        """The encodings of the answers of calls, by connection and call."""
        self.listener: RpcListener | None = None
        self.calls: Counter[str] = Counter()
        """The number of calls of each method, by its name."""
        self.faults: Counter[int] = Counter()
        """The number of calls that were answered with a fault, by its status."""

    # -- called by the listener

    def bound(self, connection: int, peer: str, event: Bound) -> None:
        """Record that a client has bound an interface."""
        name = INTERFACES[event.interface]
        self._submit(ClientBound(event.association, connection, peer, name))

    def called(self, connection: int, peer: str, called: Called) -> None:
        """Pass a call to the machine, or refuse it at once."""
        del peer
        try:
            request = decode_request(called.interface, called.opnum, called.stub, called.encoding)
        except UnknownOpnum:
            self._fault(connection, called.call, FaultStatus.OP_RANGE)
        except StubFault:
            self._fault(connection, called.call, FaultStatus.BAD_STUB_DATA)
        else:
            try:
                by = self._who(called.user)
            except NotKnown:  # the user was removed from the settings while the client was connected
                self._fault(connection, called.call, FaultStatus.ACCESS_DENIED)
                return
            self.calls[type(request).__name__] += 1
            self._encodings.setdefault(connection, {})[called.call] = called.encoding
            self._submit(
                ClientCalled(
                    called.association,
                    connection,
                    called.call,
                    request,
                    by,
                    called.protection,
                )
            )

    def _who(self, user: str) -> Principal:
        return self._users.named(user) if user else ANONYMOUS

    def cancelled(self, connection: int, call: int, *, forgotten: bool) -> None:
        """Report that a client cancels a call, or has forgotten it."""
        if forgotten:
            self._encodings.get(connection, {}).pop(call, None)
        self._submit(CallCancelled(connection, call, forgotten))

    def connection_lost(self, connection: int) -> None:
        """Forget the calls of a connection that is lost."""
        self._encodings.pop(connection, None)
        self._submit(ConnectionLost(connection))

    def association_lost(self, association: int) -> None:
        """Report that the last connection of a client was lost."""
        self._submit(AssociationLost(association))

    # -- effects of the machine

    def respond(self, effect: Respond) -> None:
        """Answer a call, if its client still waits for it."""
        encoding = self._encodings.get(effect.connection, {}).pop(effect.call, None)
        if encoding is not None:
            assert self.listener is not None, "a call came before there was a listener"
            stub = encode_response(effect.response, encoding)
            self.listener.respond(effect.connection, effect.call, stub)

    def raise_fault(self, effect: RaiseFault) -> None:
        """Answer a call with a fault, if its client still waits for it."""
        if self._encodings.get(effect.connection, {}).pop(effect.call, None) is not None:
            self._fault(effect.connection, effect.call, effect.status)

    def end_association(self, effect: EndAssociation) -> None:
        """Close the connections of a client."""
        assert self.listener is not None, "a client came before there was a listener"
        self.listener.end_association(effect.association)

    def _submit(self, event: Event) -> None:
        with suppress(EngineStopped):
            self._engine.submit(event)

    def _fault(self, connection: int, call: int, status: int) -> None:
        assert self.listener is not None, "a call came before there was a listener"
        self.faults[status] += 1
        self.listener.fault(connection, call, status)

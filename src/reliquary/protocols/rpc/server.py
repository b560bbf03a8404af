"""Implements an accepted connection: it turns bytes into events, and answers into bytes.

    receive --Pdus--> PDU --TASKS--> bind, alter_context, auth3     answered here
                                     request --Calls--> Called
                                     co_cancel, orphaned            Cancelled, Orphaned
    respond, fault --> output

A client that violates the protocol gets a bind_nak or a fault, and then the connection is `Closed`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from reliquary.protocols.rpc.associations import Associations
from reliquary.protocols.rpc.calls import Calls, Refusal
from reliquary.protocols.rpc.events import Bound, Cancelled, Closed, Orphaned, ServerEvent
from reliquary.protocols.rpc.fragments import OversizedPdu, Pdu, Pdus
from reliquary.protocols.rpc.limits import Limits, agreed_fragment
from reliquary.protocols.rpc.logins import LoginRefused, Logins
from reliquary.protocols.rpc.phases import Phase, Task, task_of
from reliquary.protocols.rpc.presentation import Negotiated, PresentationContext, Violation, negotiate
from reliquary.protocols.rpc.security import SecurityContext
from reliquary.wire.rpc.binds import Bind, BindAck, Nak, decode_bind, encode_ack, encode_nak
from reliquary.wire.rpc.calls import CALL_SIZE, encode_fault
from reliquary.wire.rpc.header import HEADER_SIZE, MAJOR, MINOR, WHOLE, Flag, Header, PduFault, PduType
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import SyntaxId
from reliquary.wire.rpc.verifier import Verifier, decode_verifier


class ServerConnection:
    """The state of one accepted connection."""

    __slots__ = (
        "_address",
        "_associations",
        "_calls",
        "_contexts",
        "_fragment",
        "_group",
        "_interfaces",
        "_limits",
        "_logins",
        "_out",
        "_pdus",
        "_peer",
        "_phase",
    )

    def __init__(
        self,
        interfaces: Collection[SyntaxId],
        associations: Associations,
        limits: Limits,
        secure: Callable[[int], SecurityContext | None],
        address: str,
        peer: str = "",
    ) -> None:
        self._interfaces = interfaces
        self._associations = associations
        self._limits = limits
        self._address = address
        self._peer = peer
        """The host of the client; only connections of one host can share an association."""
        self._logins = Logins(secure, limits.logins)
        self._contexts: dict[int, PresentationContext] = {}
        self._out: list[bytes] = []
        self._calls = Calls(self._contexts, self._logins, limits)
        self._pdus = Pdus(limits.fragment)
        self._phase = Phase.NEW
        self._group = 0
        self._fragment = 0

    @property
    def closed(self) -> bool:
        """Whether the connection can no longer be used."""
        return self._phase is Phase.CLOSED

    @property
    def outstanding(self) -> int:
        """The calls without an answer."""
        return self._calls.outstanding

    @property
    def assembling(self) -> int:
        """The bytes of the request whose last fragment has not come."""
        return self._calls.assembling

    def receive(self, data: bytes | memoryview) -> list[ServerEvent]:
        """Take bytes of the client and return the events in them."""
        events: list[ServerEvent] = []
        if self.closed:
            return events
        try:
            for pdu in self._pdus.feed(data):
                events += self._take(pdu)
                if events and isinstance(events[-1], Closed):
                    break
        except OversizedPdu as fault:
            events += self._refuse(fault.header, str(fault), executed=True)
        except PduFault as fault:
            events.append(self._close(str(fault)))
        return events

    def respond(self, call: int, stub: Sequence[bytes | memoryview]) -> None:
        """Answer a call; a call that is not outstanding is ignored."""
        self._out += self._calls.response(call, stub, self._fragment)

    def fault(self, call: int, status: int) -> None:
        """Answer a call with a status; a call that is not outstanding is ignored."""
        self._out += self._calls.fault(call, status)

    def output(self) -> list[bytes]:
        """Remove and return the bytes that are to be sent."""
        out, self._out = self._out, []
        return out

    def lost(self) -> int:
        """End the connection, and return the association that ended with it, or 0."""
        self._close("the connection was lost")
        group, self._group = self._group, 0
        return group if group and self._associations.leave(group) else 0

    def _take(self, pdu: Pdu) -> list[ServerEvent]:
        """Process a PDU as the table of this phase requires."""
        header = pdu.header
        if header.version != (MAJOR, MINOR):
            return self._wrong_version(header)
        return _DO[task_of(self._phase, header.type)](self, pdu)

    def _bind(self, pdu: Pdu) -> list[ServerEvent]:
        """Answer the first PDU of a connection."""
        call = pdu.header.call
        try:
            bind = decode_bind(pdu.data, pdu.header)
            verifier = _verifier_of(pdu)
            if len(bind.elements) > self._limits.contexts:
                return self._nak(call, Nak.LOCAL_LIMIT, f"{len(bind.elements)} presentation contexts")
            agreed = self._negotiate(bind, first=True)
            answer = self._logins.begin(verifier) if verifier else None
        except PduFault as fault:
            return self._nak(call, Nak.PROTOCOL_VERSION, str(fault))
        except Violation as violation:
            return self._nak(call, Nak.NOT_SPECIFIED, str(violation))
        except LoginRefused as refused:
            return self._nak(call, refused.nak, str(refused))
        if not self._associate(bind.group):
            return self._nak(call, Nak.NOT_SPECIFIED, f"association {bind.group} is not known")
        self._fragment = agreed_fragment(bind.transmit, bind.receive, self._limits.fragment)
        self._calls.multiplexed = bool(pdu.header.flags & Flag.MULTIPLEX)
        self._ack(pdu.header, agreed, answer, PduType.BIND_ACK, self._address)
        return self._accept(agreed)

    def _alter(self, pdu: Pdu) -> list[ServerEvent]:
        """Answer a request for more presentation contexts, or for another step of the authentication."""
        header = pdu.header
        try:
            bind = decode_bind(pdu.data, header)
            verifier = _verifier_of(pdu)
            if verifier is not None and not verifier.kind:
                return self._refuse(header, "no type of authentication", FaultStatus.ACCESS_DENIED)
            agreed = self._negotiate(bind, first=False)
            if verifier is None and self._logins.building is not None:
                return self._refuse(header, "the request has no token, which its security context requires")
            answer = self._logins.go_on(verifier) if verifier else None
        except (PduFault, Violation) as fault:
            return self._refuse(header, str(fault))
        except LoginRefused as refused:
            return self._refuse(header, str(refused), refused.status)
        self._ack(header, agreed, answer, PduType.ALTER_CONTEXT_RESP, "")
        return self._accept(agreed)

    def _authenticate(self, pdu: Pdu) -> list[ServerEvent]:
        """Take the last token; no answer is allowed, so an error in it is reported by the first call."""
        try:
            if not pdu.header.auth:
                raise PduFault("the PDU has no token")
            verifier = decode_verifier(pdu.data, pdu.header, HEADER_SIZE + 4)
        except PduFault as fault:
            return self._refuse(pdu.header, str(fault), FaultStatus.NO_MEMORY)
        self._logins.finish(verifier)
        self._phase = Phase.BOUND
        return []

    def _call(self, pdu: Pdu) -> list[ServerEvent]:
        """Take a fragment of a request."""
        called = self._calls.take(pdu, self._group)
        if called is None:
            return []
        if not isinstance(called, Refusal):
            return [called]
        self._out.append(encode_fault(called.call, called.context, called.status, executed=called.executed))
        return [] if called.stays else [self._close(called.why)]

    def _cancel(self, pdu: Pdu) -> list[ServerEvent]:
        call = pdu.header.call
        return [Cancelled(call)] if self._calls.cancel(call) else []

    def _forget(self, pdu: Pdu) -> list[ServerEvent]:
        call = pdu.header.call
        return [Orphaned(call)] if self._calls.forget(call) else []

    def _second_bind(self, pdu: Pdu) -> list[ServerEvent]:
        return self._nak(pdu.header.call, Nak.NOT_SPECIFIED, "a second bind")

    def _out_of_turn(self, pdu: Pdu) -> list[ServerEvent]:
        return self._refuse(pdu.header, f"a PDU of type {pdu.header.type} while {self._phase.name}")

    def _negotiate(self, bind: Bind, *, first: bool) -> Negotiated:
        return negotiate(bind.elements, self._contexts, self._interfaces, self._limits.contexts, first=first)

    def _associate(self, group: int) -> bool:
        """Join an association, or make one; return whether that was possible."""
        if group:
            if not self._associations.join(group, self._peer):
                return False
            self._group = group
        else:
            self._group = self._associations.open(self._peer)
        return True

    def _ack(
        self, header: Header, agreed: Negotiated, answer: Verifier | None, kind: PduType, address: str
    ) -> None:
        """Write the answer to a bind or an alter_context; either agrees on header signing."""
        flags = WHOLE | header.flags & Flag.HEADER_SIGN
        if header.flags & Flag.HEADER_SIGN:
            self._calls.header_signing = True
        if kind is PduType.BIND_ACK:
            flags |= header.flags & Flag.MULTIPLEX
        ack = BindAck(self._fragment, self._fragment, self._group, address, agreed.results)
        self._out.append(encode_ack(kind, header.call, flags, ack, answer))

    def _accept(self, agreed: Negotiated) -> list[ServerEvent]:
        """Store the new contexts, and report them."""
        self._contexts.update(agreed.added)
        self._phase = Phase.SECURING if self._logins.building else Phase.BOUND
        return [Bound(self._group, context.interface, context.encoding) for context in agreed.added.values()]

    def _wrong_version(self, header: Header) -> list[ServerEvent]:
        why = "version {}.{} of the protocol is not supported".format(*header.version)
        if header.type == PduType.BIND:
            return self._nak(header.call, Nak.PROTOCOL_VERSION, why)
        return self._refuse(header, why)

    def _nak(self, call: int, reason: Nak, why: str) -> list[ServerEvent]:
        self._out.append(encode_nak(call, reason))
        return [self._close(why)]

    def _refuse(
        self, header: Header, why: str, status: FaultStatus = FaultStatus.PROTOCOL, *, executed: bool = False
    ) -> list[ServerEvent]:
        """Answer a PDU with a fault and end the connection, [MS-RPCE] 3.3.3.5.7."""
        self._out.append(encode_fault(header.call, 0, status, executed=executed))
        return [self._close(why)]

    def _close(self, why: str) -> Closed:
        self._phase = Phase.CLOSED
        self._pdus.clear()
        self._calls.clear()
        return Closed(why)


_DO: Final[Mapping[Task, Callable[[ServerConnection, Pdu], list[ServerEvent]]]] = {
    Task.BIND: ServerConnection._bind,
    Task.ALTER: ServerConnection._alter,
    Task.AUTHENTICATE: ServerConnection._authenticate,
    Task.CALL: ServerConnection._call,
    Task.CANCEL: ServerConnection._cancel,
    Task.FORGET: ServerConnection._forget,
    Task.NAK: ServerConnection._second_bind,
    Task.REFUSE: ServerConnection._out_of_turn,
}


def _verifier_of(pdu: Pdu) -> Verifier | None:
    """Return the token of a bind or an alter_context, if there is one."""
    return decode_verifier(pdu.data, pdu.header, CALL_SIZE) if pdu.header.auth else None

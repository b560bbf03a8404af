"""Assembles the calls of an accepted connection from fragments, and divides their answers into fragments.

A request is judged by its first fragment: its presentation context, its security context, the limits.
Later fragments only have to continue it, and to be signed as the first one; repeated header fields are
not read, as in Windows.  The other fragments of a refused call are read and dropped ([MS-RPCE]
3.3.3.5.8): their signatures are checked too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from reliquary.protocols.rpc.events import Called
from reliquary.protocols.rpc.fragments import Assembly, Pdu
from reliquary.protocols.rpc.guards import Guard
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.logins import LoginRefused, Logins
from reliquary.protocols.rpc.presentation import PresentationContext
from reliquary.protocols.rpc.security import SecurityRefused
from reliquary.protocols.rpc.sending import fragments
from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.rpc.calls import Request, decode_request, encode_fault, response_head
from reliquary.wire.rpc.header import Flag, Header, PduFault
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import NEVER_SENT, FaultStatus
from reliquary.wire.rpc.trailer import Claims, TrailerFault, cut_trailer
from reliquary.wire.rpc.verifier import Verifier, decode_verifier

_NOT_EXECUTED: Final = frozenset(
    (FaultStatus.OP_RANGE, FaultStatus.UNKNOWN_INTERFACE, FaultStatus.SERVER_TOO_BUSY)
)
"""Statuses with which a server guarantees that the method did not run."""


class Refusal(NamedTuple):
    """A fault that answers a fragment."""

    call: int
    context: int
    status: int
    why: str
    stays: bool = False
    """Whether the connection stays open."""
    executed: bool = True
    """Whether the method may have run, as far as the client can know."""


@dataclass(slots=True)
class _Incoming:
    """A request whose last fragment has not come."""

    header: Header
    request: Request
    context: PresentationContext | None
    """The presentation context; None for a call that is already refused, and read to its end."""
    guard: Guard | None
    stub: Assembly = field(default_factory=Assembly)


@dataclass(slots=True)
class _Call:
    """A call without an answer."""

    context: int
    guard: Guard | None
    cancels: int = 0


class Calls:
    """The calls of a connection."""

    __slots__ = ("_contexts", "_incoming", "_limits", "_logins", "_waiting", "header_signing", "multiplexed")

    def __init__(self, contexts: Mapping[int, PresentationContext], logins: Logins, limits: Limits) -> None:
        self._contexts = contexts
        self._logins = logins
        self._limits = limits
        self._incoming: _Incoming | None = None
        self._waiting: dict[int, _Call] = {}
        self.multiplexed = False
        """Whether a request may come before the last one is answered."""
        self.header_signing = False

    @property
    def outstanding(self) -> int:
        """The calls without an answer."""
        return len(self._waiting)

    @property
    def assembling(self) -> int:
        """The bytes of the request whose last fragment has not come."""
        return 0 if self._incoming is None else self._incoming.stub.size

    def clear(self) -> None:
        """Forget all calls of this connection."""
        self._incoming = None
        self._waiting.clear()

    def cancel(self, call: int) -> bool:
        """Record that the client cancels a call, and return whether the call waits for an answer."""
        waiting = self._waiting.get(call)
        if waiting is None:
            return False
        waiting.cancels = min(waiting.cancels + 1, 0xFF)
        return True

    def forget(self, call: int) -> bool:
        """Forget a call, and return whether it was waiting for an answer."""
        return self._waiting.pop(call, None) is not None

    def take(self, pdu: Pdu, group: int) -> Called | Refusal | None:
        """Take a fragment, and return the call when it is complete."""
        header = pdu.header
        try:
            request = decode_request(pdu.data, header)
            verifier = decode_verifier(pdu.data, header, request.stub) if header.auth else None
        except PduFault as fault:
            return _protocol_error(header, 0, str(fault))
        present = self._incoming
        if present is not None and (present.context or header.call == present.header.call):
            refusal = self._continues(present, pdu, request, verifier)
        else:
            refusal = self._begins(pdu, request, verifier)
        if refusal is not None:
            return refusal
        if not header.flags & Flag.LAST:
            return None
        return self._complete(group)

    def _begins(self, pdu: Pdu, request: Request, verifier: Verifier | None) -> Refusal | None:
        """Check the first fragment of a request."""
        header = pdu.header
        first = bool(header.flags & Flag.FIRST)
        if not first and not self.multiplexed:
            return _protocol_error(header, 0, f"call {header.call} has no first fragment")
        if first and header.flags & Flag.PENDING_CANCEL:
            return Refusal(
                header.call,
                0,
                FaultStatus.NO_CALL_ACTIVE,
                f"call {header.call} was cancelled by its first fragment",
                executed=False,
            )
        context = self._contexts.get(request.context)
        guard = None
        try:
            guard = self._logins.of_request(verifier)
        except LoginRefused as refused:
            if context is not None:
                return Refusal(header.call, request.context, FaultStatus.ACCESS_DENIED, str(refused))
        if context is not None and not first:
            return _protocol_error(header, request.context, f"call {header.call} has no first fragment")
        refusal = self._check_room(header, request) if context else _unknown(header, request)
        if refusal is not None and not refusal.stays:
            return refusal
        self._incoming = _Incoming(header, request, None if refusal else context, guard)
        broken = self._add(self._incoming, pdu, request, verifier)
        if refusal is not None and header.flags & Flag.LAST:
            self._incoming = None
        return broken or refusal

    def _continues(
        self, present: _Incoming, pdu: Pdu, request: Request, verifier: Verifier | None
    ) -> Refusal | None:
        """Check another fragment of an incomplete request."""
        header = pdu.header
        if header.call != present.header.call:
            # All fragments of a request come before those of the next one, [MS-RPCE] 3.3.1.5.8.
            why = f"call {header.call} begins before the last fragment of call {present.header.call}"
            if self.multiplexed:
                return _protocol_error(header, 0, why)
            return _protocol_error(present.header, present.request.context, why)
        refusal = self._add(present, pdu, request, verifier)
        if refusal is None and header.flags & Flag.FIRST:
            why = f"call {header.call} has two first fragments"
            return _protocol_error(header, present.request.context, why)
        return refusal

    def _add(
        self, incoming: _Incoming, pdu: Pdu, request: Request, verifier: Verifier | None
    ) -> Refusal | None:
        """Add the stub of a fragment to its request."""
        header, context = pdu.header, incoming.request.context
        if incoming.context is None and incoming.guard is None:
            return None
        try:
            stub = self._open(incoming.guard, pdu, request, verifier)
        except PduFault as fault:
            return _protocol_error(header, context, str(fault))
        except SecurityRefused as refused:
            return Refusal(header.call, context, FaultStatus.SECURITY_ERROR, str(refused))
        if incoming.context is None:
            return None
        incoming.stub.add(stub)
        if incoming.stub.size > self._limits.stub:
            why = f"the stub of call {header.call} has more than {self._limits.stub} bytes"
            return Refusal(header.call, context, FaultStatus.ACCESS_DENIED, why)
        return None

    def _open(
        self, guard: Guard | None, pdu: Pdu, request: Request, verifier: Verifier | None
    ) -> bytes | memoryview:
        """Return the stub of a fragment after its signature was checked."""
        if verifier is None:
            if guard is not None and guard.signs:
                raise PduFault("a fragment has no signature, which its security context requires")
            return pdu.data[request.stub :]
        if guard is None:
            raise PduFault("a fragment has a signature, but no security context")
        return guard.open(pdu, request.stub, verifier)

    def _check_room(self, header: Header, request: Request) -> Refusal | None:
        """Check a request against the limits of the connection."""
        context = request.context
        if header.call in self._waiting:
            return _protocol_error(header, context, f"call {header.call} has no answer yet")
        if self._waiting and not self.multiplexed:
            why = f"call {header.call} begins before the answer to another call, without multiplexing"
            return _protocol_error(header, context, why)
        if not header.flags & Flag.LAST and request.hint > self._limits.stub:
            why = f"the stub of call {header.call} has {request.hint} bytes, more than {self._limits.stub}"
            return Refusal(header.call, context, FaultStatus.ACCESS_DENIED, why)
        if len(self._waiting) >= self._limits.calls:
            why = f"{self._limits.calls} calls of this connection wait for their answers, and no more may"
            return Refusal(header.call, context, FaultStatus.SERVER_TOO_BUSY, why, stays=True, executed=False)
        return None

    def _complete(self, group: int) -> Called | Refusal | None:
        """Return the call whose last fragment came."""
        incoming = self._incoming
        assert incoming is not None
        self._incoming = None
        header, request, context, guard = incoming.header, incoming.request, incoming.context, incoming.guard
        if context is None:
            return None
        if context.encoding.wide and header.big_endian:
            why = f"the stub of call {header.call} is NDR64 in big-endian order"  # [MS-RPCE] 2.2.5
            return _protocol_error(header, request.context, why)
        claims = Claims(
            context.interface,
            context.transfer,
            header.call,
            request.context,
            request.opnum,
            self.header_signing,
            header.representation,
        )
        try:
            stub = cut_trailer(incoming.stub.stub(), claims)
        except TrailerFault as fault:
            return Refusal(
                header.call,
                request.context,
                FaultStatus.ACCESS_DENIED,
                str(fault),
                stays=True,
                executed=False,
            )
        self._waiting[header.call] = _Call(request.context, guard)
        return Called(
            group,
            header.call,
            context.interface,
            request.opnum,
            stub,
            Encoding(context.encoding.wide, header.big_endian),
            guard.context.user if guard else "",
            guard.level if guard else Protection.NONE,
        )

    def fault(self, call: int, status: int) -> list[bytes]:
        """Return the fault that answers a call."""
        assert status not in NEVER_SENT
        waiting = self._waiting.pop(call, None)
        if waiting is None:
            return []
        executed = status not in _NOT_EXECUTED
        return [encode_fault(call, waiting.context, status, executed=executed, cancels=waiting.cancels)]

    def response(self, call: int, stub: Sequence[bytes | memoryview], longest: int) -> list[bytes]:
        """Return the fragments that answer a call."""
        waiting = self._waiting.pop(call, None)
        if waiting is None:
            return []

        def head(flags: int, length: int, auth: int, left: int) -> bytes:
            return response_head(flags, length, auth, call, left, waiting.context, waiting.cancels)

        return [fragments(stub, longest, head, waiting.guard)]


def _unknown(header: Header, request: Request) -> Refusal:
    """Answer a request for a presentation context that was not agreed upon; the connection stays."""
    why = f"call {header.call} names presentation context {request.context}, which was not agreed upon"
    return Refusal(header.call, 0, FaultStatus.UNKNOWN_INTERFACE, why, stays=True, executed=False)


def _protocol_error(header: Header, context: int, why: str) -> Refusal:
    """Answer a violation of the protocol, [MS-RPCE] 3.3.3.5.7."""
    return Refusal(header.call, context, FaultStatus.PROTOCOL, why)

"""Implements a client connection: it turns calls into bytes, and bytes of the server into answers.

begin --> bind --> bind_ack [--> alter_context --> alter_context_resp]... --> Opened
                      '--------> auth3 -----------------------------------> Opened
call --> requests ... responses --> Returned
                  ... fault --> Faulted
Any other PDU ends the connection: Closed. Then calls without an answer never get one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from reliquary.protocols.rpc.events import ClientEvent, Closed, Faulted, Opened, Returned
from reliquary.protocols.rpc.fragments import Assembly, Pdu, Pdus
from reliquary.protocols.rpc.guards import Guard
from reliquary.protocols.rpc.limits import LEAST_FRAGMENT
from reliquary.protocols.rpc.security import SecurityContext, SecurityRefused
from reliquary.protocols.rpc.sending import fragments
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.binds import (
    Bind,
    BindAck,
    ContextElement,
    Result,
    decode_ack,
    decode_nak,
    encode_auth3,
    encode_bind,
)
from reliquary.wire.rpc.calls import CALL_SIZE, check_response, decode_fault, encode_bare, request_head
from reliquary.wire.rpc.header import MAJOR, MINOR, WHOLE, Flag, PduFault, PduType
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.syntaxes import ENCODINGS, SyntaxId
from reliquary.wire.rpc.trailer import Claims, encode_trailer
from reliquary.wire.rpc.verifier import decode_verifier

STUB_LIMIT: Final = 4_700_000
"""The largest stub of a response: the longest message with the fields around it."""
_OPENING_CALL: Final = 0
"""The call_id of binds; calls have others."""
_GUARD_NUMBER: Final = 0
_TRANSFERS: Final = {encoding: syntax for syntax, encoding in ENCODINGS.items()}


class ClientPhase(Enum):
    """The phases of a client connection."""

    NEW = auto()
    BINDING = auto()
    """The bind waits for its answer."""
    SECURING = auto()
    """An alter_context with a token waits for its answer."""
    OPEN = auto()
    CLOSED = auto()


class _Broken(Exception):
    """The server violated the protocol; the text has the details."""


class ClientConnection:
    """The state of one connection to a server."""

    __slots__ = (
        "_association",
        "_calls",
        "_context",
        "_encoding",
        "_ending",
        "_fragment",
        "_guard",
        "_header_signing",
        "_interface",
        "_multiplexed",
        "_offers",
        "_out",
        "_pdus",
        "_phase",
    )

    def __init__(
        self,
        interface: SyntaxId,
        *,
        association: int = 0,
        security: SecurityContext | None = None,
        auth_type: int = 0,
        protection: Protection = Protection.NONE,
        fragment: int = 5840,
        encodings: Sequence[Encoding] = (NDR20, NDR64),
    ) -> None:
        self._interface = interface
        self._association = association
        self._guard = Guard(auth_type, _GUARD_NUMBER, protection, security) if security else None
        self._fragment = fragment
        self._offers = tuple(encodings)
        self._encoding = self._offers[0]
        self._context = 0
        self._header_signing = False
        self._multiplexed = False
        self._calls: dict[int, Assembly] = {}
        self._out: list[bytes] = []
        self._pdus = Pdus(fragment)
        self._phase = ClientPhase.NEW
        self._ending = False
        """Whether the server wants to end the connection after the pending calls have an answer."""

    @property
    def closed(self) -> bool:
        """Whether the connection can no longer be used."""
        return self._phase is ClientPhase.CLOSED

    @property
    def outstanding(self) -> int:
        """The calls without an answer."""
        return len(self._calls)

    def begin(self) -> None:
        """Write the bind PDU that opens the association."""
        assert self._phase is ClientPhase.NEW
        flags = Flag.MULTIPLEX
        verifier = None
        if self._guard is not None:
            verifier = self._guard.verifier(self._guard.context.step(b""))
            if self._guard.level >= Protection.INTEGRITY:
                flags |= Flag.HEADER_SIGN  # [MS-RPCE] 3.3.1.5.2.2
        self._out.append(encode_bind(PduType.BIND, _OPENING_CALL, flags, self._offer(), verifier))
        self._phase = ClientPhase.BINDING

    def call(self, call: int, opnum: int, stub: Sequence[bytes]) -> None:
        """Write a request; `call` is a number that no pending call has, and not 0."""
        assert self._phase is ClientPhase.OPEN
        assert call != _OPENING_CALL
        assert call not in self._calls
        assert self._multiplexed or not self._calls
        self._calls[call] = Assembly()

        def head(flags: int, length: int, auth: int, left: int) -> bytes:
            return request_head(flags, length, auth, call, left, self._context, opnum)

        if self._guard is not None and self._guard.signs:
            stub = [*stub, self._trailer(call, opnum, sum(map(len, stub)))]
        self._out.append(fragments(stub, self._fragment, head, self._guard))

    def cancel(self, call: int) -> None:
        """Ask the server to end a call; its answer is still awaited."""
        if call in self._calls:
            self._out.append(encode_bare(PduType.CO_CANCEL, call))

    def output(self) -> list[bytes]:
        """Remove and return the bytes that are to be sent."""
        out, self._out = self._out, []
        return out

    def receive(self, data: bytes | memoryview) -> list[ClientEvent]:
        """Take bytes of the server and return the events in them."""
        events: list[ClientEvent] = []
        if self.closed:
            return events
        try:
            for pdu in self._pdus.feed(data):
                events += self._take(pdu)
                if self._ending and not self._calls:
                    raise _Broken("the server ends the connection")
        except (PduFault, _Broken, SecurityRefused) as fault:
            events.append(self._close(str(fault)))
        return events

    def _take(self, pdu: Pdu) -> list[ClientEvent]:
        """Process a PDU as the table of this phase requires."""
        header = pdu.header
        if header.version != (MAJOR, MINOR):
            raise _Broken("version {}.{} of the protocol is not supported".format(*header.version))
        handler = HANDLERS.get((self._phase, header.type))
        if handler is None:
            raise _Broken(f"a PDU of type {header.type} came in phase {self._phase.name}")
        return handler(self, pdu)

    def _acknowledged(self, pdu: Pdu) -> list[ClientEvent]:
        """Store the limits and syntaxes that the server agrees to."""
        ack = decode_ack(pdu.data, pdu.header)
        accepted = [at for at, result in enumerate(ack.results) if result.result == Result.ACCEPTED]
        if not accepted or accepted[0] >= len(self._offers):
            raise _Broken(f"the interface is refused ({_reasons(ack)})")
        self._context = accepted[0]
        self._encoding = self._offers[self._context]
        self._association = ack.group
        self._fragment = min(self._fragment, ack.receive) & ~7
        if self._fragment < LEAST_FRAGMENT:
            raise _Broken(f"the server takes fragments of {ack.receive} bytes, fewer than {LEAST_FRAGMENT}")
        self._multiplexed = bool(pdu.header.flags & Flag.MULTIPLEX)
        self._header_signing = bool(pdu.header.flags & Flag.HEADER_SIGN)
        return self._secure(pdu)

    def _secure(self, pdu: Pdu) -> list[ClientEvent]:
        """Take the token of an answer, and send the next one or open the connection."""
        guard = self._guard
        if guard is None:
            return [self._open()]
        answer = b""
        if pdu.header.auth:
            answer = guard.context.step(decode_verifier(pdu.data, pdu.header, CALL_SIZE).token)
        if not answer:
            if not guard.context.complete:
                raise _Broken("the authentication is not complete")
            return [self._open()]
        verifier = guard.verifier(answer)
        if guard.context.complete:
            # An odd number of legs: no answer follows, [MS-RPCE] 3.3.1.5.2.1.
            self._out.append(encode_auth3(_OPENING_CALL, WHOLE, verifier))
            return [self._open()]
        alter = encode_bind(PduType.ALTER_CONTEXT, _OPENING_CALL, 0, self._offer(), verifier)
        self._out.append(alter)
        self._phase = ClientPhase.SECURING
        return []

    def _open(self) -> Opened:
        """Open the connection, if the security context has the required protection."""
        guard = self._guard
        if guard is not None and not guard.context.protects(guard.level):
            raise _Broken(f"the server did not negotiate what {guard.level.name} needs")
        self._phase = ClientPhase.OPEN
        return Opened(self._association, self._encoding, self._multiplexed)

    def _offer(self) -> Bind:
        """Return the content of a bind; an alter_context repeats what was negotiated."""
        if self._phase is ClientPhase.NEW:
            offers = enumerate(self._offers)
        else:
            offers = enumerate([self._encoding], self._context)
        elements = tuple(
            ContextElement(number, self._interface, (_TRANSFERS[encoding],)) for number, encoding in offers
        )
        return Bind(self._fragment, self._fragment, self._association, elements)

    def _trailer(self, call: int, opnum: int, size: int) -> bytes:
        """Return the verification trailer of a request, [MS-RPCE] 2.2.2.13."""
        transfer = _TRANSFERS[self._encoding]
        claims = Claims(self._interface, transfer, call, self._context, opnum, self._header_signing)
        return encode_trailer(size, claims)

    def _refused(self, pdu: Pdu) -> list[ClientEvent]:
        raise _Broken(f"the bind is refused (reason {decode_nak(pdu.data, pdu.header)})")

    def _denied(self, pdu: Pdu) -> list[ClientEvent]:
        raise _Broken(f"the authentication is refused ({decode_fault(pdu.data, pdu.header).status:#010x})")

    def _answered(self, pdu: Pdu) -> list[ClientEvent]:
        """Take a fragment of a response."""
        header = pdu.header
        check_response(header)
        assembly = self._calls.get(header.call)
        if assembly is None:
            raise _Broken(f"an answer to call {header.call} came, which was never made")
        if bool(header.flags & Flag.FIRST) == assembly.started:
            raise _Broken(f"fragments of call {header.call} are out of order")
        assembly.add(self._stub(pdu))
        if assembly.size > STUB_LIMIT:
            raise _Broken(f"a response has more than {STUB_LIMIT} bytes")
        if not header.flags & Flag.LAST:
            return []
        del self._calls[header.call]
        return [Returned(header.call, assembly.stub(), Encoding(self._encoding.wide, header.big_endian))]

    def _stub(self, pdu: Pdu) -> bytes | memoryview:
        """Return the stub of a fragment after its signature was checked."""
        guard = self._guard
        if not pdu.header.auth:
            if guard is not None and guard.signs:
                raise _Broken("a response has no signature, which the login requires")
            return pdu.data[CALL_SIZE:]
        verifier = decode_verifier(pdu.data, pdu.header, CALL_SIZE)
        if guard is None or not guard.fits(verifier):
            raise _Broken("a response has a signature of another kind than the login")
        return guard.open(pdu, CALL_SIZE, verifier)

    def _faulted(self, pdu: Pdu) -> list[ClientEvent]:
        """Take a fault; its signature is not checked, because no action depends on it."""
        fault = decode_fault(pdu.data, pdu.header)
        if self._calls.pop(pdu.header.call, None) is None:
            raise _Broken(f"the server reports {fault.status:#010x}")
        return [Faulted(pdu.header.call, fault.status)]

    def _ends(self, _pdu: Pdu) -> list[ClientEvent]:
        self._ending = True
        return []

    def _close(self, why: str) -> Closed:
        self._phase = ClientPhase.CLOSED
        self._pdus.clear()
        self._calls.clear()
        return Closed(why)


HANDLERS: Final[Mapping[tuple[ClientPhase, int], Callable[[ClientConnection, Pdu], list[ClientEvent]]]] = {
    (ClientPhase.BINDING, PduType.BIND_ACK): ClientConnection._acknowledged,
    (ClientPhase.BINDING, PduType.BIND_NAK): ClientConnection._refused,
    (ClientPhase.BINDING, PduType.FAULT): ClientConnection._denied,
    (ClientPhase.SECURING, PduType.ALTER_CONTEXT_RESP): ClientConnection._secure,
    (ClientPhase.SECURING, PduType.BIND_NAK): ClientConnection._refused,
    (ClientPhase.SECURING, PduType.FAULT): ClientConnection._denied,
    (ClientPhase.OPEN, PduType.RESPONSE): ClientConnection._answered,
    (ClientPhase.OPEN, PduType.FAULT): ClientConnection._faulted,
    (ClientPhase.OPEN, PduType.SHUTDOWN): ClientConnection._ends,
}
"""The handler of each PDU; any other PDU ends the connection."""


def _reasons(ack: BindAck) -> str:
    return ", ".join(f"{result.result}/{result.reason}" for result in ack.results)

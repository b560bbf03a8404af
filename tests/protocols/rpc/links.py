"""A client and a server without a network between them, and PDUs that no correct client would send."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random

from reliquary.protocols.rpc.associations import Associations
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.protocols.rpc.events import (
    Called,
    ClientEvent,
    Closed,
    Opened,
    ServerEvent,
)
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.security import SecurityContext
from reliquary.protocols.rpc.server import ServerConnection
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.binds import Bind, BindAck, ContextElement, decode_ack, decode_nak, encode_bind
from reliquary.wire.rpc.calls import Fault, decode_fault, request_head
from reliquary.wire.rpc.header import WHOLE, Flag, Header, PduType, decode_header
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.syntaxes import MGMT, NDR20_SYNTAX, QM2QM, SyntaxId
from reliquary.wire.rpc.verifier import Verifier
from tests.protocols.rpc.pretended_security import NTLM, SPNEGO, PretendedClient, pretended_server

INTERFACES = (QM2QM, MGMT)
LEGS = {NTLM: 3, SPNEGO: 4}


def accepted(
    *,
    associations: Associations | None = None,
    limits: Limits | None = None,
    secure: Callable[[int], SecurityContext | None] = pretended_server,
    peer: str = "here",
) -> ServerConnection:
    """Return a connection that a server has accepted."""
    groups = Associations() if associations is None else associations
    return ServerConnection(INTERFACES, groups, limits or Limits(), secure, "2105", peer)


def dialed(
    auth_type: int = 0,
    protection: Protection = Protection.NONE,
    *,
    user: str = "anna",
    association: int = 0,
    fragment: int = 5840,
    encodings: Sequence[Encoding] = (NDR20, NDR64),
) -> ClientConnection:
    """Return a connection that a client has opened."""
    security = PretendedClient(LEGS[auth_type], user) if auth_type else None
    return ClientConnection(
        QM2QM,
        association=association,
        security=security,
        auth_type=auth_type,
        protection=protection,
        fragment=fragment,
        encodings=encodings,
    )


class Link:
    """Carries bytes between two connections, in pieces of any size."""

    def __init__(
        self, client: ClientConnection, server: ServerConnection, chance: Random | None = None
    ) -> None:
        self.client = client
        self.server = server
        self._chance = chance
        self.at_client: list[ClientEvent] = []
        self.at_server: list[ServerEvent] = []

    def carry(self) -> None:
        """Carry bytes until both sides are silent."""
        while True:
            there = b"".join(self.client.output())
            for piece in self._pieces(there):
                self.at_server += self.server.receive(piece)
            back = b"".join(self.server.output())
            for piece in self._pieces(back):
                self.at_client += self.client.receive(piece)
            if not there and not back:
                return

    def open(self) -> Opened:
        """Bind, and return the events of the client."""
        self.client.begin()
        self.carry()
        (opened,) = self.at_client
        assert isinstance(opened, Opened)
        self.at_client.clear()
        self.at_server.clear()
        return opened

    def called(self) -> Called:
        """Return the one call that the server got."""
        (called,) = self.at_server
        assert isinstance(called, Called)
        self.at_server.clear()
        return called

    def _pieces(self, data: bytes) -> list[bytes]:
        return [data] if self._chance is None else pieces(data, self._chance)


def pieces(data: bytes, chance: Random) -> list[bytes]:
    """Cut bytes at random places."""
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(1, 9)))
    return [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]


def element(
    number: int = 0,
    interface: SyntaxId = QM2QM,
    transfers: Sequence[SyntaxId] = (NDR20_SYNTAX,),
) -> ContextElement:
    """Return an element of a bind."""
    return ContextElement(number, interface, tuple(transfers))


def bind(
    *elements: ContextElement,
    kind: PduType = PduType.BIND,
    call: int = 1,
    flags: int = 0,
    group: int = 0,
    sizes: tuple[int, int] = (5840, 5840),
    verifier: Verifier | None = None,
) -> bytes:
    """Return a bind or an alter_context."""
    return encode_bind(kind, call, flags, Bind(*sizes, group, elements), verifier)


def request(
    stub: bytes = b"",
    *,
    call: int = 1,
    flags: int = WHOLE,
    context: int = 0,
    opnum: int = 0,
    hint: int | None = None,
    verifier: Verifier | None = None,
) -> bytes:
    """Return one fragment of a request."""
    end = verifier.encode() if verifier else b""
    auth = len(verifier.token) if verifier else 0
    length = 24 + len(stub) + len(end)
    hinted = len(stub) if hint is None else hint
    return request_head(flags, length, auth, call, hinted, context, opnum) + stub + end


def bound(*, multiplexed: bool = False, limits: Limits | None = None) -> ServerConnection:
    """Return an accepted connection whose bind is answered."""
    server = accepted(limits=limits)
    server.receive(bind(element(), flags=Flag.MULTIPLEX if multiplexed else 0))
    server.output()
    return server


def sent(server: ServerConnection) -> tuple[Header, bytes]:
    """Take the one PDU that a server sends."""
    data = b"".join(server.output())
    header = decode_header(data)
    assert header.length == len(data)
    return header, data


def sent_ack(server: ServerConnection) -> BindAck:
    """Take the answer to a bind or an alter_context."""
    header, data = sent(server)
    assert header.type in {PduType.BIND_ACK, PduType.ALTER_CONTEXT_RESP}
    return decode_ack(data, header)


def sent_nak(server: ServerConnection) -> int:
    """Take a bind_nak and return its reason."""
    header, data = sent(server)
    assert header.type == PduType.BIND_NAK
    return decode_nak(data, header)


def sent_fault(server: ServerConnection) -> tuple[int, Fault, bool]:
    """Take a fault: of which call, what it says, and whether the call may have been executed."""
    header, data = sent(server)
    assert header.type == PduType.FAULT
    return header.call, decode_fault(data, header), not header.flags & Flag.DID_NOT_EXECUTE


def closed(events: Sequence[object]) -> bool:
    """Return whether the last thing that happened is the end of the connection."""
    return bool(events) and isinstance(events[-1], Closed)

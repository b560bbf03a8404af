"""A harness for RPC: a service that notes its calls, a connection on a recording transport, real clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from uuid import UUID

from reliquary.base.time import seconds
from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.users import User, Users
from reliquary.net.rpc.connection import RpcConnection
from reliquary.net.rpc.listener import RpcListener
from reliquary.net.rpc.service import RpcService
from reliquary.net.rpc.shared import RpcShared
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.protocols.rpc.events import Bound, Called, ClientEvent, Faulted, Opened, Returned
from reliquary.protocols.rpc.limits import Limits
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId
from tests.net.http.harness import RecordingTransport
from tests.net.stream_client import StreamClient, connected

PASSWORD = "password"
USERS = Users(UUID(int=1), (User(name="alice", nt_hash=nt_hash(PASSWORD)),))


class ManualService:
    """A service that answers when the test does; `notes` has the calls that it received, in order."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.calls: list[tuple[int, Called]] = []
        self.bindings: list[Bound] = []

    def bound(self, connection: int, peer: str, event: Bound) -> None:
        self.notes.append(f"{connection} bound from {peer or 'nowhere'}")
        self.bindings.append(event)

    def called(self, connection: int, peer: str, event: Called) -> None:
        del peer
        self.notes.append(f"{connection} called {event.opnum}")
        self.calls.append((connection, event))

    def cancelled(self, connection: int, call: int, *, forgotten: bool) -> None:
        self.notes.append(f"{connection} {'forgot' if forgotten else 'cancelled'} {call}")

    def connection_lost(self, connection: int) -> None:
        self.notes.append(f"{connection} lost")

    def association_lost(self, association: int) -> None:
        self.notes.append(f"association {'lost' if association else 'without a number'}")


def share(
    manual_service: ManualService,
    *,
    most: int = 10,
    limits: Limits | None = None,
    keeps: Callable[[int], bool] = lambda association: False,
) -> RpcShared:
    """Return what the connections of one listener share, at time 0."""
    return RpcShared(
        {QM2QM: manual_service, QMCOMM: manual_service},
        connections=most,
        idle_time=seconds(600),
        bind_time=seconds(30),
        limits=limits or Limits(),
        secure=lambda connection: lambda auth_type: None,
        keeps=keeps,
        principals={},
        now=0,
    )


class Side:
    """A client whose bytes the test carries to one connection of ours, and back."""

    def __init__(self, shared: RpcShared, interface: SyntaxId = QM2QM, association: int = 0) -> None:
        self.connection, self.transport = RpcConnection(shared), RecordingTransport()
        self.connection.connection_made(self.transport)
        self.client = ClientConnection(interface, association=association)
        self.heard: list[ClientEvent] = []
        self._read = 0

    def carry(self) -> list[ClientEvent]:
        """Carry bytes there and back; return the events of the client."""
        for data in self.client.output():
            self.connection.data_received(data)
        sent, self._read = self.transport.sent[self._read :], len(self.transport.sent)
        self.heard += self.client.receive(sent)
        return self.heard

    def bind(self) -> int:
        """Bind, and return the association."""
        self.client.begin()
        (opened,) = self.carry()
        assert isinstance(opened, Opened)
        self.heard.clear()
        return opened.association

    def call(self, call: int, opnum: int = 7, stub: bytes = b"stub") -> list[ClientEvent]:
        self.client.call(call, opnum, [stub])
        return self.carry()


class Caller(StreamClient):
    """A client on a real socket."""

    client: ClientConnection
    _last = 0

    def send(self) -> None:
        self._writer.write(b"".join(self.client.output()))

    async def hear(self) -> ClientEvent | None:
        """Return the next event, or None when the server hangs up."""
        while True:
            data = await self._reader.read(65536)
            if not data:
                return None
            events = self.client.receive(data)
            self.send()
            if events:
                (event,) = events
                return event

    async def bind(self, interface: SyntaxId = QM2QM, **options: Any) -> ClientEvent | None:
        """Bind an interface; further options are those of `ClientConnection`."""
        self.client = ClientConnection(interface, **options)
        self.client.begin()
        self.send()
        return await self.hear()

    def ask(self, opnum: int, stub: bytes = b"") -> None:
        self._last += 1
        self.client.call(self._last, opnum, [stub])
        self.send()

    async def call(self, opnum: int, stub: bytes = b"") -> bytes | int | None:
        """Return the stub of the answer, or the status of a fault; None when the server hangs up."""
        self.ask(opnum, stub)
        match await self.hear():
            case Returned(stub=answer):
                return answer
            case Faulted(status=status):
                return status
            case _:
                return None

    async def is_cut(self) -> bool:
        """Wait for the end of the connection."""
        try:
            return not await self._reader.read(1)
        except ConnectionError:
            return True


class EchoService(ManualService):
    """A service that answers each call at once, with its stub."""

    listener: RpcListener | None = None

    def called(self, connection: int, peer: str, event: Called) -> None:
        super().called(connection, peer, event)
        assert self.listener is not None
        self.listener.respond(connection, event.call, [event.stub])


@asynccontextmanager
async def listening(
    services: Mapping[SyntaxId, RpcService], **options: Any
) -> AsyncIterator[tuple[RpcListener, int]]:
    """Yield a listener on a free port of the loopback; it is drained at the end, and nothing is left."""
    listener = RpcListener(services, users=USERS, **options)
    for service in services.values():
        if isinstance(service, EchoService):
            service.listener = listener
    port = await listener.listen()
    try:
        yield listener, port
    finally:
        await listener.drain(seconds(0.001))
        assert listener.connections == listener.associations == 0


def caller(port: int) -> AbstractAsyncContextManager[Caller]:
    """Return a client of a port, which has bound nothing yet."""
    return connected(Caller, port)

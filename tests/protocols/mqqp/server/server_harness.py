r"""A queue manager and MQQP on one bench: a test plays the clients and the network.

bench = ServerBench()                      started, with the private queue "orders"
client = bench.client()                    a client with one connection, bound to both interfaces
queue = client.open()                      qmcomm and qm2qm: an `Open` with the DWORD and the handles
client.receive(queue)                      opnum 0 with MQ_ACTION_RECEIVE: a `ReadStarted`
client.begin(Request)                      a call that may wait; the number to look for its response by
client.answer(call)                        what came back: a response, an int for a fault, or None
client.lose()                              its connections break
bench.restart()                            as in `Bench`; MQQP begins anew, and the clients are gone
"""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from reliquary.base.turn import Effect, Event, Turn
from reliquary.engine.protocols import assemble
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import FOREVER, Acknowledge, Action, ReadDescriptor, Request
from reliquary.protocols.mqqp.effects import RaiseFault, Respond
from reliquary.protocols.mqqp.events import (
    AssociationLost,
    CallCancelled,
    ClientBound,
    ClientCalled,
    ConnectionLost,
    PortsKnown,
)
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.server.state import ServerState
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.tables import TABLES
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal, user_sid
from reliquary.queueing.packets.messages import deserialize
from reliquary.wire.rpc.protection import Protection
from tests.queueing.manager_harness import Bench

PORTS = PortsKnown(2103, 2105)
DEFAULTS = MqqpSettings(seed=b"bench")
HERE = UUID("0b162747-99cf-479c-972f-95b776e141c3")
"""The pLicGuid of the stub vectors."""
DOMAIN = UUID(int=7)
R = TypeVar("R")


def user(name: str) -> Principal:
    """Return a user as NTLM would name it."""
    return Principal(user_sid(DOMAIN, name), name=name)


class Open(NamedTuple):
    """A queue as a client has it."""

    number: int
    context: UUID
    session: UUID = qm2qm.NO_HANDLE


class ServerBench(Bench):
    """A manager that is a server of MQQP."""

    TABLES = manager_tables.TABLES + TABLES

    def __init__(self, *queues: str, settings: MqqpSettings = DEFAULTS, **options: Any) -> None:
        self.settings = settings
        self.numbers = count(1)
        self.responses: dict[tuple[int, int], list[Any]] = {}
        """What came back, by connection and call."""
        super().__init__(*queues, **options)

    def _build(self) -> None:
        super()._build()
        built = assemble(
            self.disk,
            self.rows,
            self.chance,
            (mqqp(self.settings),),
            sizes=self.sizes,
            history=self.history,
        )
        self.core, self.manager, self.machines = built

    def start(self) -> Turn:
        """Start the manager, and listen."""
        turn = super().start()
        self.handle(PORTS)
        return turn

    def run(self, event: Event) -> Turn:
        """Run one turn of both machines; what goes to clients is kept for them."""
        turn = self.core.turn(event, self.now)
        rest: list[Effect] = []
        for effect in turn.effects:
            if isinstance(effect, Respond):
                self.responses.setdefault((effect.connection, effect.call), []).append(effect.response)
            elif isinstance(effect, RaiseFault):
                self.responses.setdefault((effect.connection, effect.call), []).append(effect.status)
            else:
                rest.append(effect)
        return Turn(turn.facts, turn.signals, tuple(rest), turn.waits)

    @property
    def server(self) -> ServerState:
        """The state of the server role."""
        machine = self.machines["mqqp"]
        assert isinstance(machine, Mqqp)
        return machine.state.server

    def client(self, by: Principal = ANONYMOUS, protection: Protection = Protection.NONE) -> Client:
        """Return a client with one connection that is bound to both interfaces."""
        client = Client(self, next(self.numbers), by, protection)
        client.connect()
        return client

    @property
    def is_idle(self) -> bool:
        """Return whether no client has left anything behind, here or at the manager."""
        server = self.server
        kept = (server.associations, server.connections, server.queues, server.handles, server.asked)
        return not any(kept) and not (
            self.state.open.handles or self.state.open.cursors or self.state.open.askers
        )


class Client:
    """A client on another computer: an association."""

    def __init__(self, bench: ServerBench, association: int, by: Principal, protection: Protection) -> None:
        self.bench = bench
        self.association = association
        self.by = by
        self.protection = protection
        self.connections: list[int] = []
        self.calls = count(1)
        self.requests = count(100)

    # -- connections

    def connect(self, *interfaces: str) -> int:
        """Open one more connection of the association; return its number."""
        connection = next(self.bench.numbers)
        for interface in interfaces or ("qmcomm", "qm2qm"):
            peer = f"10.0.0.{self.association}"
            self.bench.handle(ClientBound(self.association, connection, peer, interface))
        self.connections.append(connection)
        return connection

    def lose(self) -> None:
        """Break all connections and the association of this client."""
        for connection in self.connections:
            self.bench.handle(ConnectionLost(connection))
        self.connections = []
        self.bench.handle(AssociationLost(self.association))

    # -- calls

    def begin(self, request: Request, connection: int = 0) -> tuple[int, int]:
        """Call a method that may wait; return what its response is found by."""
        place = (connection or self.connections[0], next(self.calls))
        self.bench.handle(
            ClientCalled(self.association, *place, request, by=self.by, protection=self.protection)
        )
        return place

    def answer(self, place: tuple[int, int]) -> Any:
        """Return what came back for a call: a response, the status of a fault, or None while it waits."""
        answers = self.bench.responses.get(place, [])
        assert len(answers) <= 1, f"a call was answered twice: {answers}"
        return answers[0] if answers else None

    def call(self, request: Request) -> Any:
        """Call a method, and return the immediate response."""
        answer = self.answer(self.begin(request))
        assert answer is not None, f"{request} waits"
        return answer

    def cancel(self, place: tuple[int, int], *, forgotten: bool = False) -> None:
        """Cancel a call, as co_cancel or orphaned does."""
        self.bench.handle(CallCancelled(*place, forgotten=forgotten))

    # -- what tests call most

    def open_remote(
        self, name: str | None = r"DIRECT=OS:bench\private$\orders", access: int = 1, share: int = 0
    ) -> Any:
        """Call R_QMOpenRemoteQueue and return its response."""
        return self.call(qmcomm.OpenRemoteQueue(name, access, share, HERE))

    def open(
        self, name: str = r"DIRECT=OS:bench\private$\orders", access: int = 1, share: int = 0, level: int = 0
    ) -> Open:
        """Open a queue in both interfaces."""
        opened = self.open_remote(name, access, share)
        assert opened.status == 0, hex(opened.status)
        session = self.call(qm2qm.OpenQueue(HERE, level, opened.queue, opened.queue_again, opened.context))
        assert session.status == 0, hex(session.status)
        return Open(opened.queue, opened.handle, session.handle)

    def read(
        self, queue: Open | int, action: int = Action.RECEIVE, *, timeout: int = 0, **parts: Any
    ) -> ReadDescriptor:
        """Return a REMOTEREADDESC, with a new dwRequestID where none is given."""
        number = queue if isinstance(queue, int) else queue.number
        request = parts.pop("request", None) or next(self.requests)
        return ReadDescriptor(number, action, timeout, request, queue_again=number, **parts)

    def begin_reading(
        self, queue: Open, action: int = Action.RECEIVE, *, timeout: int = FOREVER, **parts: Any
    ) -> tuple[int, int]:
        """Opnum 0, which may wait."""
        return self.begin(qm2qm.StartReceive(self.read(queue, action, timeout=timeout, **parts)))

    def receive(self, queue: Open, **parts: Any) -> Any:
        """Call opnum 0 with MQ_ACTION_RECEIVE and return its response."""
        return self.call(qm2qm.StartReceive(self.read(queue, **parts)))

    def peek(self, queue: Open, action: int = Action.PEEK_CURRENT, **parts: Any) -> Any:
        """Opnum 0 with an action that leaves the message where it is."""
        return self.call(qm2qm.StartReceive(self.read(queue, action, **parts)))

    def look_up(self, queue: Open, lookup_id: int, action: int, **parts: Any) -> Any:
        """Call opnum 10, a read by LookupIdentifier, and return its response."""
        return self.call(qm2qm.StartReceiveByLookupId(lookup_id, self.read(queue, action, **parts)))

    def end(self, handle: UUID, acknowledge: Acknowledge = Acknowledge.ACK) -> Any:
        """Call opnum 1, which ends a read, and return its response."""
        return self.call(qm2qm.EndReceive(handle, acknowledge))

    def close(self, queue: Open) -> Any:
        """Call opnum 3, which closes a session, and return its response."""
        return self.call(qm2qm.CloseQueue(queue.session))

    def cursor(self, queue: Open) -> int:
        """Call R_QMCreateRemoteCursor and return the number of the cursor."""
        created = self.call(qmcomm.CreateRemoteCursor(queue.number))
        assert created.status == 0, hex(created.status)
        cursor: int = created.cursor
        return cursor


def message_of(started: qm2qm.ReadStarted | qm2qm.ReadStarted2) -> Message:
    """Return the message that a response has."""
    assert started.status == 0, hex(started.status)
    assert started.read is not None
    assert started.read.packet is not None
    return deserialize(started.read.packet)


def body_of(started: qm2qm.ReadStarted | qm2qm.ReadStarted2) -> bytes:
    """Return the body of the message that a response has."""
    return message_of(started).body

"""Agents on a bench, the other end as a script, and what is kept on disk before anything leaves.

    server = Side("yourhost")
    client = ScriptedClient(server)
    client.says("...", "...")                a request, by its lines (see `script`); the lines of its answer
    server.happened()                        since it was last asked: what was written, and left after it

    client = Side("myhost", peer(...))
    server = ScriptedServer(client)
    server.hears()                           the next request of our client agent, by its lines
    server.answers("...", "...")

Each side has the queues "incoming" and "outgoing", and a service of the name "service" between them.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import Any

from reliquary.base.time import seconds
from reliquary.base.turn import Effect, Event, Fact, Reply, Turn
from reliquary.net.httpr.batches import whole
from reliquary.net.httpr.bodies import Stored
from reliquary.net.httpr.intake import Intake
from reliquary.protocols.httpr.addresses import own_agent
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import encode_request, encode_response
from reliquary.protocols.httpr.codec.reader import BodyIncomplete, RequestReader, ResponseReader
from reliquary.protocols.httpr.codec.values import SENDS, BatchLimits, ErrorNumber
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import (
    Addressed,
    Answer,
    ConnectionGone,
    Failure,
    ForgetChannel,
    RequestArrived,
    ResponseArrived,
)
from reliquary.protocols.httpr.facts import (
    BatchesSettled,
    BatchPrepared,
    BatchReceived,
    PeerReported,
    SideForgotten,
)
from reliquary.protocols.httpr.facts import (
    Side as Half,
)
from reliquary.protocols.httpr.server.sessions import limits_of
from reliquary.protocols.httpr.settings import HttprSettings, Peer, Service
from reliquary.protocols.httpr.tables import Channel
from reliquary.queueing.model.events import DropSpool, StorePiece
from reliquary.queueing.model.facts import MessagesStored, PositionsRemoved
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.rules.spool import read_piece
from reliquary.store.memory import MemoryDisk
from tests.protocols.httpr.httpr_harness import HttprBench
from tests.scenes.httpr.script import Sessions, to_bytes, to_lines

SERVICE = Service(name="service", into="incoming", source="outgoing")
NO_BATCH = BatchLimits(0, 0)
SOCKET = 64 * 1024
"""Bytes that come at a time."""
FORGET_AFTER = 30
"""Seconds after which our client agent counts communication on a channel as complete."""
_connections = count(1)


def settings(*peers: Peer, **chosen: Any) -> HttprSettings:
    """Return the settings of one side of a scene."""
    return HttprSettings(
        **{"services": (SERVICE,), "peers": peers, "forget_after": seconds(FORGET_AFTER), **chosen}
    )


class Side(HttprBench):
    """A manager under an address of its own."""

    def __init__(self, host: str, *peers: Peer, chosen: HttprSettings | None = None, **options: Any) -> None:
        self.host = host
        self.origin = f"httpr://{host}"
        self.diary: list[str] = []
        """What was written, and what left after it; several sides may share one."""
        self.mark = ""
        """Before each of its lines."""
        seed = sum(host.encode())  # another manager, another GUID
        super().__init__(
            "incoming", "outgoing", seed=seed, settings=chosen or settings(*peers), addressed=False, **options
        )

    def start(self) -> Turn:
        """Start the manager and let it listen at its origin."""
        turn = super().start()
        self.handle(Addressed(self.origin, frozenset({self.host})))
        return turn

    # -- what is written down

    def run(self, event: Event) -> Turn:
        """Run one turn; its facts are on disk when the first of its effects leaves."""
        before = len(self.out)
        turn = super().run(event)
        lines = [line for fact in turn.facts for line in _written(fact)]
        lines += [line for effect in (*self.out[before:], *turn.effects) for line in _left(effect)]
        self.diary += [self.mark + line for line in lines]
        return turn

    def happened(self) -> list[str]:
        """Return what was written and what left, since the last call."""
        happened = self.diary[:]
        self.diary.clear()
        return happened

    def backup(self) -> MemoryDisk:
        """Return a copy of the store as it is now."""
        self.flush()
        return deepcopy(self.disk)

    @property
    def channel(self) -> Channel:
        """The only channel of this side."""
        (channel,) = self.httpr.state.channels.values()
        return channel

    def forget(self) -> None:
        """An administrator ends the only channel."""
        self.ask(ForgetChannel(0, self.channel.number))

    @property
    def loose(self) -> int:
        """Return the number of large bodies that belong to no message."""
        return len(self.state.messages.bodies.loose)

    # -- bytes

    def post(self, data: bytes, connection: int, service: str = "service", by: Principal = ANONYMOUS) -> int:
        """Post to the server; return the number of the caller."""
        reader = RequestReader(lambda header: limits_of(self.httpr.state, service, header))
        intake = Intake(self, lambda: None)
        fault, why = None, ""
        try:
            _read(reader, intake, data)
        except HttprFault as wrong:
            fault, why = wrong.number, wrong.why
        except BodyIncomplete as wrong:
            fault, why = ErrorNumber.HTTP_R_PROTOCOL_ERROR, str(wrong)
        if fault is not None:
            intake.give_up()
        caller, batch, ending = self.new_caller(), tuple(intake.batch), intake.disposition
        ending = None if fault is not None else ending
        self.handle(RequestArrived(caller, connection, service, reader.header, batch, ending, fault, why, by))
        return caller

    def response(self, caller: int) -> bytes | None:
        """Return the answer to a caller; None while the caller waits."""
        answer = self.answer_to(caller)
        if answer is None:
            return None
        assert isinstance(answer, Answer)
        said = encode_response(answer.header)
        return said if answer.header.transaction_id is None else whole(said, answer.batch, self.home)

    def request_bytes(self, request: SendRequest) -> bytes:
        """Return what a request of ours is on the wire."""
        said = encode_request(request.header)
        return whole(said, request.batch, self.home) if request.header.command in SENDS else said

    def responded(self, request: SendRequest, data: bytes) -> None:
        """The response to it has come."""
        reader, intake = ResponseReader(request.limits or NO_BATCH), Intake(self, lambda: None)
        try:
            _read(reader, intake, data)
        except (HttprFault, BodyIncomplete) as wrong:
            intake.give_up()
            self.fail(request, Failure.LOST if isinstance(wrong, BodyIncomplete) else Failure.NOT_HTTPR)
            return
        channel, epoch, number, header = request.channel, request.epoch, request.number, reader.header
        assert header is not None, "a whole response has a header"
        self.handle(ResponseArrived(channel, epoch, number, header, tuple(intake.batch), intake.disposition))

    @property
    def home(self) -> str:
        """The URI of our own agent."""
        return own_agent(self.origin, self.settings.manager_service)

    # -- large bodies, as the network has them

    def read(self, spool: int, index: int) -> bytes:
        """Return one stored piece of a large message."""
        return read_piece(self.state, spool, index)

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        """Store one more piece of a large message."""
        stored(self.ask(StorePiece(0, spool, data)))

    def drop(self, spool: int) -> None:
        """Drop a large body that no message will own."""
        self.handle(DropSpool(spool))


def _read(reader: RequestReader | ResponseReader, intake: Intake, data: bytes) -> None:
    """Yield a body in pieces, as a socket brings it."""
    for start in range(0, len(data), SOCKET):
        intake.take(reader.feed(data[start : start + SOCKET]))
    reader.end()


def _written(fact: Fact) -> list[str]:
    """Return the words of chapter 4 for a write."""
    match fact:
        case MessagesStored(messages=messages):
            return ["save " + " ".join(message.body.decode() for message in messages)]
        case PositionsRemoved(positions=positions):
            return [f"remove {len(positions)} messages"]
        case BatchPrepared(batch=batch):
            return [f"set {batch} indoubt, last-source-id={batch}"]
        case BatchesSettled(committed=committed, returned=returned):
            return [f"commit {each}" for each in committed] + [f"restore {each}" for each in returned]
        case BatchReceived(batch=batch, outcome=outcome):
            return [f"last-received-id={batch} {outcome.value}"]
        case PeerReported(last_sent_id=last):
            return [f"last-sent-id={last}"]
        case SideForgotten(side=Half.SINK):
            return ["remove last-received-id"]
        case SideForgotten(side=Half.SOURCE):
            return ["remove last-source-id"]
        case _:
            return []


def _left(effect: Effect) -> list[str]:
    """Return what left, in a word."""
    match effect:
        case SendRequest(header=header):
            return [f"--> {header.command.value}" + (f" {header.transaction_id}" if effect.batch else "")]
        case Reply(answer=Answer(header=header, batch=batch)):
            sent = f"batch {header.transaction_id}" if batch else ""
            pair = "" if header.outcome is None else f"{header.outcome.value} {header.completed}"
            error = "" if header.error is None else str(header.error.number)
            return ["<-- " + ", ".join(filter(None, (sent, pair, error)))]
        case _:
            return []


# -- the other end


class ScriptedClient:
    """A client that sends the lines that a test writes."""

    def __init__(self, side: Side, service: str = "service", by: Principal = ANONYMOUS) -> None:
        self.side = side
        self.service = service
        self.by = by
        self.sessions = Sessions()
        self.connection = next(_connections)

    def says(self, *lines: str) -> list[str]:
        """Send a request; return its answer, as soon as there is one."""
        return self.hears(self.sends(*lines))

    def sends(self, *lines: str) -> int:
        """Send a request; return the number under which its answer is looked for."""
        data = to_bytes(*map(self.sessions.to_wire, lines))
        return self.side.post(data, self.connection, self.service, self.by)

    def hears(self, caller: int) -> list[str]:
        """Return the answer; let time pass until it is there."""
        for _ in range(200):
            data = self.side.response(caller)
            if data is not None:
                return [*map(self.sessions.from_wire, to_lines(data))]
            self.side.advance(0.1)
        raise AssertionError("no answer in twenty seconds")

    def fails(self) -> None:
        """The connection breaks; what comes next comes on another."""
        self.side.handle(ConnectionGone(self.connection))
        self.connection = next(_connections)


class ScriptedServer:
    """A server that answers our client agent with the lines that a test writes."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._heard = 0
        self._unanswered: list[SendRequest] = []

    def hears(self) -> list[str]:
        """Return the lines of the next request that our client agent sent."""
        assert not self.is_silent, "our client agent has nothing more to say"
        request = self.side.requests[self._heard]
        self._heard += 1
        self._unanswered.append(request)
        return to_lines(self.side.request_bytes(request))

    @property
    def is_silent(self) -> bool:
        """Return whether all requests were read."""
        return self._heard == len(self.side.requests)

    def answers(self, *lines: str) -> None:
        """The answer to the oldest request that has none."""
        self.answers_with(to_bytes(*lines))

    def answers_with(self, data: bytes) -> None:
        """Answer the oldest request with these bytes."""
        self.side.responded(self._unanswered.pop(0), data)

    def fails(self) -> None:
        """The answer to it gets lost, and with it all that were to follow on this connection."""
        self.side.fail(self._unanswered[0])
        self._unanswered.clear()

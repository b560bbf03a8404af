"""A client agent as a test plays it: it writes one header after the other, and remembers nothing by itself.

client = Client(bench)                 httpr://client.example/app, channel "primary", service "orders"
client.begin(maximum_batch_size=5)     GET-RESPONDER-INFO; its requests carry the session from now on
client.push(1, b"a", b"b")             the answer, an `Answer`; also abort, pull, exchange, report
client.pull_later(...)                 a PULL where the answer comes later: a caller's number
client.connect()                       the next requests go over a new connection
"""

from __future__ import annotations

from itertools import count
from typing import Any

from reliquary.protocols.httpr.codec.values import (
    Capabilities,
    Carried,
    Command,
    Disposition,
    ErrorNumber,
    Outcome,
    RequestHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Answer, ConnectionGone
from reliquary.protocols.httpr.server.channel import ServerChannel
from reliquary.protocols.httpr.tables import Channel, Role
from tests.protocols.httpr.httpr_harness import ORIGIN, HttprBench

CLIENT = "httpr://client.example/app"
COMMIT, ROLLBACK, INDOUBT = Outcome.COMMIT, Outcome.ROLLBACK, Outcome.INDOUBT
_connections = count(1)


class Client:
    """A client agent that sends requests to the server under test."""

    def __init__(
        self,
        bench: HttprBench,
        *,
        requester: str = CLIENT,
        channel: str = "primary",
        service: str = "orders",
    ) -> None:
        self.bench = bench
        self.requester = requester
        self.channel = channel
        self.service = service
        self.session = ""
        self.connection = 0
        self.connect()

    # -- what it sees

    @property
    def row(self) -> Channel:
        """Return the row that the server stores for the channel."""
        responder = f"{ORIGIN}/httpr/{self.service}"
        found = self.bench.httpr.state.find(Role.SERVER, self.requester, self.channel, responder)
        assert found is not None, "the channel is not open"
        return found

    @property
    def in_doubt(self) -> list[int]:
        """The batches whose outcome the server does not know yet."""
        return list(self.row.in_doubt)

    @property
    def server_channel(self) -> ServerChannel:
        """Return the channel in the memory of the server agent."""
        return self.bench.httpr.state.server.channels[self.row.number]

    def answer_to(self, caller: int) -> Answer | None:
        """Return what came for a request; None while it waits."""
        answer: Answer | None = self.bench.answer_to(caller)
        return answer

    # -- what it does

    def connect(self) -> None:
        """Open another connection; the requests on the old one are ignored from now on."""
        self.connection = next(_connections)

    def hang_up(self) -> None:
        """Close the connection of this client."""
        self.bench.handle(ConnectionGone(self.connection))

    def header(self, command: Command, **fields: Any) -> RequestHeader:
        """Return a header of this channel: with the session, or with all that names it."""
        if self.session and command is not Command.GET_RESPONDER_INFO:
            return RequestHeader(command=command, **{"session_id": self.session, **fields})
        named = {"requester": self.requester, "channel": self.channel}
        return RequestHeader(command=command, **{**named, **fields})

    def ask_later(
        self,
        command: Command,
        *bodies: bytes | Carried,
        disposition: Disposition = Disposition.LAST,
        connection: int = 0,
        fault: ErrorNumber | None = None,
        **fields: Any,
    ) -> int:
        """Send a request; the caller's number."""
        batch = [each if isinstance(each, Carried) else assured(each) for each in bodies]
        return self.bench.request_later(
            self.header(command, **fields),
            *batch,
            disposition=disposition,
            connection=connection or self.connection,
            service=self.service,
            fault=fault,
        )

    def ask(self, command: Command, *bodies: bytes | Carried, **fields: Any) -> Answer:
        """Send a request that is answered at once."""
        answer = self.answer_to(self.ask_later(command, *bodies, **fields))
        assert answer is not None, "no answer yet"
        return answer

    def begin(
        self, *, completed: int | None = None, outcome: Outcome | None = None, **proposed: Any
    ) -> Answer:
        """Send GET-RESPONDER-INFO that begins a session; remember its identifier."""
        answer = self.ask(
            Command.GET_RESPONDER_INFO,
            session=SessionMark.BEGIN,
            capabilities=Capabilities(**{"sessions": True, **proposed}),
            completed=completed,
            outcome=outcome,
        )
        self.session = answer.header.session_id
        return answer

    def push(self, batch: int, *bodies: bytes | Carried, **fields: Any) -> Answer:
        """Send a PUSH with these messages and return its answer."""
        return self.ask(Command.PUSH, *bodies, transaction_id=batch, **fields)

    def pull_later(self, completed: int | None = None, outcome: Outcome = COMMIT, **fields: Any) -> int:
        """Send a PULL later, with or without the outcome of earlier batches."""
        if completed is not None:
            fields |= {"completed": completed, "outcome": outcome}
        return self.ask_later(Command.PULL, **fields)

    def pull(self, completed: int | None = None, outcome: Outcome = COMMIT, **fields: Any) -> Answer:
        """PULL that waits as long as the server lets it wait."""
        return self.wait_for(self.pull_later(completed, outcome, **fields))

    def exchange(self, batch: int, *bodies: bytes, completed: int | None = None, **fields: Any) -> Answer:
        """Send an EXCHANGE, wait until it is answered, and return the answer."""
        if completed is not None:
            fields |= {"completed": completed, "outcome": fields.get("outcome", COMMIT)}
        return self.wait_for(self.ask_later(Command.EXCHANGE, *bodies, transaction_id=batch, **fields))

    def wait_for(self, caller: int) -> Answer:
        """Let time pass until the answer is there."""
        for _ in range(100):
            answer = self.answer_to(caller)
            if answer is not None:
                return answer
            self.bench.advance(0.1)
        raise AssertionError("no answer in ten seconds")

    def report(self, **fields: Any) -> Answer:
        """Send a REPORT and return its answer."""
        return self.ask(Command.REPORT, **fields)


def assured(body: bytes, *fields: str) -> Carried:
    """Return a message of a batch."""
    return Carried("".join(f"{field}\r\n" for field in ("class-of-service:assured", *fields)), body)


def pair(answer: Answer) -> tuple[Outcome | None, int | None]:
    """Return what an answer says of the client's batches."""
    return answer.header.outcome, answer.header.completed


def error(answer: Answer) -> int:
    """Return the number of its error; 0 for none."""
    return 0 if answer.header.error is None else answer.header.error.number


def ends(answer: Answer) -> bool:
    """Return whether it ends the session."""
    return answer.header.session is SessionMark.END


def bodies(answer: Answer) -> list[bytes]:
    """Return the bodies of the messages in an answer."""
    return [message.body for message in answer.batch]

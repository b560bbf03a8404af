"""A client agent and a server agent, each on its bench, and a network between them that a seed makes bad.

Requests and responses get lost, requests come late on connections that were given up, either side crashes:
what was not flushed is gone, what had not been sent was never said.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from random import Random

from reliquary.base.chance import new_guid
from reliquary.base.restoration import Restoration
from reliquary.base.turn import Turn
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.events import Addressed, Answer
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.queueing.model.message import Message
from reliquary.store.memory import MemoryDisk
from tests.protocols.httpr.far_server import ClientBench
from tests.protocols.httpr.httpr_harness import HttprBench

PAUSES = (0.1, 1, 5, 25)
TROUBLE = 0.06
"""How often each kind of it happens."""


class FarBench(HttprBench):
    """A manager whose agents are at far.example."""

    def start(self) -> Turn:
        """Start the manager, and listen there."""
        self.addressed = False
        turn = super().start()
        self.handle(Addressed("httpr://far.example", frozenset({"far.example"})))
        return turn


@dataclass(slots=True)
class Line:
    """A connection: requests that have not arrived, and callers that have no answer."""

    number: int
    channel: int
    epoch: int
    run: int
    """The process of the client, by its number, that made the request."""
    requests: list[SendRequest] = field(default_factory=list)
    asked: list[tuple[int, SendRequest]] = field(default_factory=list)
    given_up: bool = False


class TwoAgents:
    """Both benches, and what is on the way between them."""

    def __init__(self, seed: int, client: HttprSettings) -> None:
        self.chance = Random(seed)
        self.client = ClientBench("inbox", settings=client, seed=seed)
        self.server = FarBench("orders", seed=seed)
        self.lines: list[Line] = []
        self.looked = 0
        self.run = 0
        self._flush()

    def send(self, bench: HttprBench, to: str, bodies: list[bytes]) -> None:
        """Send messages from one agent's queue manager."""
        bench.send(to, *bodies)
        self._flush()

    def restore(self, bench: HttprBench, saved: MemoryDisk) -> None:
        """Restore a store from a backup; requests on the way are lost, or arrive late."""
        self._look()
        bench.disk = deepcopy(saved)
        bench.restoration = Restoration(new_guid(bench.chance), bench.now)
        if bench is self.client:
            self._crash_client()
        else:
            self._crash_server()
        bench.restoration = None
        self.client.advance(2)
        self.server.advance(2)
        self._flush()

    def step(self, *, trouble: bool) -> None:
        """Do one random step; with `trouble` it may be a crash or a lost connection."""
        self._look()
        what = self.chance.random()
        waiting = [line for line in self.lines if line.requests]
        if trouble and what < TROUBLE / 2:
            self._crash_client()
        elif trouble and what < TROUBLE:
            self._crash_server()
        elif waiting and what < 0.8:
            self._arrive(self.chance.choice(waiting), trouble=trouble)
        else:
            pause = self.chance.choice(PAUSES)
            self.client.advance(pause)
            self.server.advance(pause)
        self._flush()
        self._answer(trouble=trouble)

    def _flush(self) -> None:
        self.client.flush()
        self.server.flush()

    def _look(self) -> None:
        """Put the requests of the client on the way."""
        for effect in self.client.out[self.looked :]:
            if isinstance(effect, SendRequest):
                self._line_of(effect.channel, effect.epoch).requests.append(effect)
            elif isinstance(effect, HangUp):
                for line in self.lines:
                    if line.run == self.run and line.channel == effect.channel and line.epoch <= effect.epoch:
                        line.given_up = True
        self.looked = len(self.client.out)

    def _line_of(self, channel: int, epoch: int) -> Line:
        for line in self.lines:
            if (line.channel, line.epoch, line.run) == (channel, epoch, self.run):
                return line
        line = Line(len(self.lines) + 1, channel, epoch, self.run)
        self.lines.append(line)
        return line

    def _is_heard(self, line: Line) -> bool:
        return line.run == self.run and not line.given_up

    def _arrive(self, line: Line, *, trouble: bool) -> None:
        """Let a request arrive, or break its connection so that it arrives later or never."""
        if trouble and self._is_heard(line) and self.chance.random() < TROUBLE:
            self._break(line, line.requests[0])
            return
        request = line.requests.pop(0)
        batch = [carried(message) for message in request.batch]
        service = request.url.rpartition("/")[2]
        caller = self.server.request_later(
            request.header, *batch, connection=line.number, service=service
        )  # fmt: skip
        line.asked.append((caller, request))

    def _answer(self, *, trouble: bool) -> None:
        """Answers come back, in the order of their requests."""
        for line in self.lines:
            while line.asked and (answer := self.server.answer_to(line.asked[0][0])) is not None:
                _, request = line.asked.pop(0)
                assert isinstance(answer, Answer), f"no answer: {answer!r}"
                if not self._is_heard(line):
                    continue
                if trouble and self.chance.random() < TROUBLE:
                    self._break(line, request)
                else:
                    batch = [carried(message) for message in answer.batch]
                    self.client.respond(request, answer.header, *batch)
                    self._flush()
                    self._look()

    def _break(self, line: Line, request: SendRequest) -> None:
        self.client.fail(request)
        self._flush()
        self._look()
        line.asked.clear()
        if self.chance.random() < 0.5:
            line.requests.clear()  # else they come late

    def _crash_client(self) -> None:
        self.client.restart(crash=True)
        self.run += 1

    def _crash_server(self) -> None:
        self.server.restart(crash=True)
        for line in self.lines:
            if line.asked and self._is_heard(line):
                self._break(line, line.asked[0][1])
            line.asked.clear()


def carried(message: Message) -> Carried:
    """Return a message as it comes off the wire."""
    return Carried(*encode_message(message))

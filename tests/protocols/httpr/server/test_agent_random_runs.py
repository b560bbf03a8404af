"""Random runs of one channel: requests and answers are lost or late, batches refused, the server crashes.

The client here keeps to the specification and is as small as it can be; `settlement` and `reception` are the
tables that our own client has, so what is shown is that they and the server fit together: whatever happens,
each message arrives once and in its order, in both directions (F-01 to F-03).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.protocols.httpr.codec.values import (
    SENDS,
    Carried,
    Command,
    Disposition,
    ErrorNumber,
    Outcome,
    RequestHeader,
    ResponseHeader,
)
from reliquary.protocols.httpr.events import Answer, RequestArrived
from reliquary.protocols.httpr.server import connections
from reliquary.protocols.httpr.server.channel import ServerChannel
from reliquary.protocols.httpr.settings import OFFERED, HttprSettings, Service
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.protocols.httpr.transactions import OutcomeMessage, Reception, reception, settlement
from tests.protocols.httpr.client_harness import CLIENT, Client, assured
from tests.protocols.httpr.httpr_harness import HttprBench

SETTINGS = HttprSettings(
    services=(Service(name="both", into="inbound", source="outbound"),),
    offered=replace(OFFERED, empty_batch_delay=0, max_latency=0, max_wait_next=0),
)
SEEDS = 60


@dataclass
class Sent:
    """A request that is not answered yet."""

    header: RequestHeader
    batch: tuple[Carried, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


class RandomRun:
    """A client, a server, and all that may happen between them."""

    def __init__(self, seed: int, depth: int, *, by_info: bool = False) -> None:
        self.chance = Random(seed)
        self.depth = depth
        self.by_info = by_info
        """Take the numbers from the answer to GET-RESPONDER-INFO alone, as 3.4 allows."""
        self.bench = HttprBench("inbound", "outbound", settings=SETTINGS)
        self.bench.flush()
        self.client = Client(self.bench, service="both")
        self.row = Channel(1, Role.CLIENT, CLIENT, "primary", "")
        """What the client keeps: source and sink, as we do."""
        self.batches: dict[int, list[bytes]] = {}
        self.to_send = [b"p%d" % number for number in range(1, 21)]
        self.to_fetch = [b"s%d" % number for number in range(1, 21)]
        self.wanted, self.offered = list(self.to_send), list(self.to_fetch)
        self.received: list[bytes] = []
        self.unresolved = False
        self.late: list[tuple[int, Sent]] = []

    # -- the network

    def deliver(self, sent: Sent, connection: int) -> Answer | None:
        """Deliver a request to the server, which may crash before its write."""
        caller = self.bench.new_caller()
        ending = sent.options.get("disposition", Disposition.LAST) if sent.header.command in SENDS else None
        fault = sent.options.get("fault")
        batch = () if fault else sent.batch
        self.bench.handle(RequestArrived(caller, connection, "both", sent.header, batch, ending, fault))
        if self.chance.random() < 0.04:
            self._crash()
            return None
        self.bench.flush()
        answer: Answer | None = self.bench.answer_to(caller)
        if self.chance.random() < 0.04:
            self._crash()
        return answer

    def _crash(self) -> None:
        self.bench.restart(crash=True)
        self.late.clear()  # their connections are gone

    def exchange(self, sents: list[Sent]) -> list[Answer]:
        """Send some without waiting; how many of them arrive now, and how many answers come back."""
        arrive, answered = len(sents), len(sents)
        if self.chance.random() < 0.25:
            arrive = self.chance.randrange(len(sents) + 1)
        if self.chance.random() < 0.25:
            answered = self.chance.randrange(len(sents) + 1)
        connection, answers = self.client.connection, list[Answer]()
        for sent in sents[:arrive]:
            answer = self.deliver(sent, connection)
            if answer is None:  # a crash: nothing comes back on this connection, and nothing more arrives
                return answers[:answered]
            answers.append(answer)
        if self.chance.random() < 0.7:
            self.late += [(connection, sent) for sent in sents[arrive:]]
        return answers[:answered]

    def bring_late(self) -> None:
        """Let a request of an older connection arrive late."""
        if self.late and self.chance.random() < 0.5:
            connection, sent = self.late.pop(0)
            self.deliver(sent, connection)

    # -- the client

    def step(self) -> None:
        self.bring_late()
        if self.offered and self.chance.random() < 0.5:
            self.bench.send("outbound", self.offered.pop(0))
            self.bench.flush()
        if self.unresolved:
            self._resolve()
        elif self.depth > 1 and not self.client.session:
            self._begin()
        else:
            self._transfer()

    def _ask(self, command: Command, **fields: Any) -> ResponseHeader | None:
        """Return one request, and its answer if it comes; else all is to be resolved."""
        answers = self.exchange([Sent(self.client.header(command, **fields))])
        if not answers or answers[0].header.error is not None:
            self._lose()
            return None
        return answers[0].header

    def _lose(self) -> None:
        self.unresolved = True
        self.client.session = ""
        self.client.connect()

    def _said(self) -> dict[str, Any]:
        return {"outcome": self.row.last_received_outcome, "completed": self.row.last_received_id}

    def _begin(self) -> ResponseHeader | None:
        proposed = replace(OFFERED, maximum_pipeline_depth=self.depth, empty_batch_delay=0)
        header = self._ask(Command.GET_RESPONDER_INFO, capabilities=proposed, **self._said())
        if header is not None:
            self.client.session = header.session_id
        return header

    def _resolve(self) -> None:
        if self.by_info or self.depth > 1:
            begun = self._begin()
            if begun is None:
                return
            if self.by_info:
                self._settle(begun, OutcomeMessage.REPORT)
                self.unresolved = False
                return
        last = self.row.last_source_id
        done = not self.row.in_doubt and self.chance.random() < 0.3
        forget = {"forget": last} if done else {}
        header = self._ask(Command.REPORT, last_pushed_id=last, **self._said(), **forget)
        if header is None:
            return
        self._settle(header, OutcomeMessage.REPORT)
        pulled = header.last_pulled_id
        if pulled == 0:
            outcome = Outcome.COMMIT
            self.row = replace(self.row, last_received_id=0, last_received_outcome=outcome, last_sent_id=0)
        elif pulled is not None:
            self.row = replace(self.row, last_sent_id=max(pulled, self.row.last_sent_id))
        self.unresolved = False

    def _transfer(self) -> None:
        sents = [self._prepare() for _ in range(self.chance.randint(1, self.depth))]
        answers = self.exchange(sents)
        for answer in answers:
            if not self._take(answer):
                break
        if len(answers) < len(sents) or any(answer.header.session for answer in answers):
            self._lose()

    def _prepare(self) -> Sent:
        commands = [Command.PUSH, Command.PULL, Command.EXCHANGE] if self.to_send else [Command.PULL]
        command = self.chance.choice(commands)
        batch: tuple[Carried, ...] = ()
        options: dict[str, Any] = {}
        fields = self._said()
        if command in SENDS:
            number = self.row.last_source_id + 1
            count = self.chance.randint(1, 3)
            self.batches[number], self.to_send = self.to_send[:count], self.to_send[count:]
            self.row = replace(self.row, last_source_id=number, in_doubt=(*self.row.in_doubt, number))
            batch = tuple(assured(body) for body in self.batches[number])
            fields["transaction_id"] = number
            if self.chance.random() < 0.1:
                options["disposition"] = Disposition.ABORT
            elif self.chance.random() < 0.1:
                options["fault"] = ErrorNumber.MAXIMUM_MESSAGE_SIZE_EXCEEDED
        return Sent(self.client.header(command, **fields), batch, options)

    def _take(self, answer: Answer) -> bool:
        """Take an answer; return False when nothing behind it is to be looked at."""
        header = answer.header
        self._settle(header, OutcomeMessage.RESPONSE)
        if header.transaction_id is not None:
            if reception(self.row, header.transaction_id) is not Reception.TAKEN:
                return False
            self.received += [message.body for message in answer.batch]
            self.row = replace(
                self.row, last_received_id=header.transaction_id, last_received_outcome=Outcome.COMMIT
            )
        return header.session is None

    def _settle(self, header: ResponseHeader, by: OutcomeMessage) -> None:
        if header.outcome is None or header.completed is None:
            return
        settled = settlement(self.row.in_doubt, header.completed, header.outcome, by)
        back = [body for number in settled.returned for body in self.batches[number]]
        self.to_send = back + self.to_send
        gone = {*settled.committed, *settled.returned}
        self.row = replace(self.row, in_doubt=tuple(t for t in self.row.in_doubt if t not in gone))

    # -- the whole of it

    def play(self) -> None:
        for _ in range(2000):
            self.step()
            if not (self.to_send or self.row.in_doubt or self.unresolved or self.offered or self._is_owed()):
                break
        while self.late:
            self.bring_late()

    def _is_owed(self) -> bool:
        return self.bench.queue("outbound").counts.stored > 0

    def violations(self) -> list[str]:
        found = []
        if self.bench.bodies("inbound") != self.wanted:
            found.append(f"pushed: {self.bench.bodies('inbound')}")
        if self.received != self.to_fetch:
            found.append(f"fetched: {self.received}")
        return found


@pytest.mark.spec("HR-001", "HR-050", "HR-053", "HR-055", "HR-082")
@pytest.mark.httpr("T14", "T17", "T23", "T31")
@pytest.mark.parametrize("depth", [1, 3])
def test_messages_arrive_once_and_in_order_in_every_run(depth: int) -> None:
    for seed in range(SEEDS):
        run = RandomRun(seed, depth)
        run.play()
        assert run.violations() == [], f"seed {seed}"


def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server forgets which connection is the newest."""

    def carry(state: Any, channel: ServerChannel, number: int) -> None:
        usual(state, channel, number)
        channel.connection = 0

    usual = connections.carry
    monkeypatch.setattr(connections, "carry", carry)


@pytest.mark.spec("HR-041", "HR-125")
def test_a_client_that_trusts_get_responder_info_needs_a_server_that_ignores_older_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [RandomRun(seed, 1, by_info=True) for seed in range(SEEDS)]
    for run in runs:
        run.play()
    assert not any(run.violations() for run in runs)
    deaf(monkeypatch)
    runs = [RandomRun(seed, 1, by_info=True) for seed in range(SEEDS)]
    for run in runs:
        run.play()
    assert any(run.violations() for run in runs), "the guard is what holds"

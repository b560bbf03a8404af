"""Tests peers that send nonsense, from seeds: well-formed, and in no order that makes sense.

Our agents keep working with any of this; disk and memory stay equal; a message of ours
leaves only for a batch that was said to be committed, or for the dead letters.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from reliquary.base.turn import Turn
from reliquary.protocols.httpr.codec.values import (
    Capabilities,
    Carried,
    Command,
    Disposition,
    Error,
    ErrorNumber,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import (
    Answer,
    ConnectionGone,
    Failure,
    ForgetChannel,
    ReportChannel,
    RequestArrived,
    RequestBegun,
    ResponseArrived,
)
from reliquary.protocols.httpr.facts import BatchesSettled
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.settings import Peer
from reliquary.queueing.model.facts import PositionsRemoved
from tests.queueing.state_checks import check
from tests.scenes.httpr.harness import Side

SEEDS = range(15)
STEPS = 120
RESPONDER = "httpr://yourhost/service"
THERE = "DIRECT=HTTPR://yourhost/service#orders"


class Nonsense:
    """Draws random header fields from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.last = 0
        """The highest id so far."""

    def one_of(self, *values: Any) -> Any:
        return self.chance.choice(values)

    def some(self, value: Any) -> Any:
        """Return the value, or None with a probability of 0.4."""
        return value if self.chance.random() < 0.6 else None

    def new_id(self) -> int:
        """Return a new transaction id, or sometimes one that was used before."""
        if self.chance.random() < 0.8:
            self.last += 1
            return self.last
        return self.old_id()

    def old_id(self) -> int:
        return self.chance.randrange(self.last + 2)

    def pair(self, likely: int) -> dict[str, Any]:
        if self.chance.random() < 0.2:
            return {}
        outcome = self.one_of(*[Outcome.COMMIT] * 5, Outcome.ROLLBACK, Outcome.INDOUBT)
        return {"outcome": outcome, "completed": self.one_of(likely, likely, likely, self.old_id())}

    def messages(self) -> tuple[Carried, ...]:
        fields = (*[""] * 9, "priority:9\r\n", "priority:x\r\n", "target-uri:httpr://away/x#y\r\n")
        count = self.chance.randrange(4)
        return tuple(Carried(self.one_of(*fields), b"%d" % number) for number in range(count))

    def request(self, sessions: list[str]) -> RequestHeader:
        command = self.chance.choice(list(Command))
        fields: dict[str, Any] = self.pair(self.old_id())
        if command is Command.GET_RESPONDER_INFO or self.chance.random() < 0.4:
            depth = self.chance.randrange(1, 4)
            fields |= {
                "requester": self.one_of("httpr://a/x", "httpr://b/x"),
                "channel": self.one_of("p", "q"),
                "capabilities": Capabilities(
                    sessions=True, maximum_pipeline_depth=depth, maximum_batch_size=self.one_of(1, 2, 10)
                ),
            }
        else:
            fields["session_id"] = self.one_of("NOBODY", *sessions[-3:], *sessions[-1:] * 9)
        if command is Command.GET_RESPONDER_INFO:
            fields["session"] = SessionMark.BEGIN
        elif command in (Command.PUSH, Command.EXCHANGE):
            fields["transaction_id"] = self.one_of(None, 0, *[self.new_id()] * 18)
        elif command is Command.REPORT:
            fields |= {"last_pushed_id": self.some(self.last), "forget": self.some(self.old_id())}
            fields["session"] = self.one_of(*[None] * 9, SessionMark.END)
        return RequestHeader(command=command, **fields)

    def response(self, asked: SendRequest) -> ResponseHeader:
        fields: dict[str, Any] = self.pair(asked.header.transaction_id or asked.header.last_pushed_id or 0)
        if asked.header.command is Command.GET_RESPONDER_INFO:
            fields["session_id"] = self.one_of(*["S"] * 9, "")
            fields["capabilities"] = self.one_of(
                *[None] * 20,
                (("maximum_pipeline_depth", "2"),),
                (("maximum_batch_size", "1"),),
                (("maximum_batch_size", "0"),),
                (("flows", "PULL"),),
                (("session_support", "SESSIONLESS"),),
                (("maximum_batch_size", "99999999"),),
            )
        if asked.limits is not None:
            fields["transaction_id"] = self.some(self.new_id())
        number = self.one_of(*[None] * 200, *ErrorNumber)
        return ResponseHeader(
            responder=self.one_of(*[""] * 9, *[RESPONDER] * 9, "httpr://somebody/else"),
            session=self.one_of(*[None] * 12, SessionMark.END),
            last_pulled_id=self.some(self.one_of(self.last, self.last, self.old_id())),
            error=None if number is None else Error.of(number),
            **fields,
        )


def is_sound(side: Side) -> None:
    """Check that memory and disk agree, of the manager and of HTTPR."""
    side.flush()
    check(side.state)
    rebuilt, live = Httpr(side.rows, side.settings).state, side.httpr.state
    assert (rebuilt.channels, rebuilt.numbers) == (live.channels, live.numbers)


def only_what_was_committed_left(turns: list[Turn]) -> None:
    """Check that messages leave only in the turn that commits their batch, or as dead letters."""
    for turn in turns:
        if any(isinstance(fact, PositionsRemoved) for fact in turn.facts):
            assert any(isinstance(fact, BatchesSettled) and fact.committed for fact in turn.facts)


@pytest.mark.spec("HR-050", "HR-084")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_server_agent_survives_any_client(seed: int) -> None:
    say = Nonsense(seed)
    side = Side("yourhost")
    sessions: list[str] = []
    newest = 1
    asked: dict[int, RequestHeader] = {}
    for _ in range(STEPS):
        before = len(side.turns)
        what = say.chance.random()
        newest += say.chance.random() < 0.05
        connection = max(1, newest - say.one_of(0, 0, 0, 0, 0, 1, 2))
        if what < 0.75:
            header, caller = say.request(sessions), side.new_caller()
            asked[caller] = header
            fault = say.one_of(*[None] * 9, ErrorNumber(520))
            batch: tuple[Carried, ...] = ()
            ending = None
            if header.command in (Command.PUSH, Command.EXCHANGE) and fault is None:
                batch, ending = say.messages(), say.one_of(*[Disposition.LAST] * 4, Disposition.ABORT)
            side.handle(RequestArrived(caller, connection, "service", header, batch, ending, fault))
        elif what < 0.8:
            side.handle(RequestBegun(connection, "service", say.request(sessions)))
        elif what < 0.85:
            side.handle(ConnectionGone(connection))
        elif what < 0.9:
            side.advance(say.one_of(0.05, 0.2, 15))
        elif what < 0.98:
            side.send("outgoing", b"x")
        else:
            side.restart(crash=say.chance.random() < 0.5)
        sessions += [
            answer.header.session_id
            for reported in side.answers.values()
            for answer in reported
            if isinstance(answer, Answer) and answer.header.session_id not in sessions
        ]
        only_what_was_committed_left(side.turns[before:])
        is_sound(side)
    for caller in asked:
        assert len(side.answers.get(caller, [])) <= 1
    committed = [each for each in side.diary if "COMMIT" in each]
    assert committed, "not all of it was nonsense"


@pytest.mark.spec("HR-050", "HR-053")
@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_client_agent_survives_any_server(seed: int, exchange: bool) -> None:
    say = Nonsense(seed)
    peer = Peer(responder=RESPONDER, channel="primary", pull=True, exchange=exchange, into="incoming")
    side = Side("myhost", peer)
    waiting: list[SendRequest] = []
    seen = 0
    for _ in range(STEPS):
        waiting += side.requests[seen:]
        seen = len(side.requests)
        newest = max((each.epoch for each in waiting), default=0)
        waiting = [each for each in waiting if each.epoch == newest]
        before = len(side.turns)
        what = say.chance.random()
        if waiting and what < 0.65:
            request = waiting.pop(0)
            header = say.response(request)
            ending = None
            if header.transaction_id is not None:
                ending = say.one_of(*[Disposition.LAST] * 9, Disposition.ABORT)
            batch = () if ending is None else say.messages()
            side.handle(
                ResponseArrived(request.channel, request.epoch, request.number, header, batch, ending)
            )
        elif waiting and what < 0.68:
            side.fail(waiting[0], say.one_of(*Failure))
            waiting.clear()
        elif what < 0.85:
            side.advance(say.one_of(0.5, 5, 70))
        elif what < 0.95:
            side.send(THERE, b"x", negative_journaling=True)
        elif what < 0.98:
            side.handle(say.one_of(ReportChannel, ForgetChannel)(side.new_caller(), 1))
        else:
            waiting, seen = [], len(side.requests)
            side.restart(crash=say.chance.random() < 0.5)
        only_what_was_committed_left(side.turns[before:])
        is_sound(side)

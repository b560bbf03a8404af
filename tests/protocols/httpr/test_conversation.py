"""Tests a client and a server, and a network that hypothesis plays: exactly once and in order, whatever it
does.

    near (client) --requests--> flying --> far (server)        old: requests that the client has given up,
                  <-responses-- back  <--                      which may still arrive

Effects leave after the flush, so that a crash takes a turn with all that it asked for.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from reliquary.base.time import MILLISECOND, Duration, seconds
from reliquary.base.turn import Turn
from reliquary.protocols.httpr.codec.values import SENDS, Capabilities, Carried, Command, Disposition
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import (
    Addressed,
    Answer,
    ConnectionGone,
    Failure,
    ForgetChannel,
    ReportChannel,
    RequestArrived,
    RequestBegun,
)
from reliquary.protocols.httpr.facts import Side, SideForgotten
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.model.message import Message
from tests.protocols.httpr.httpr_harness import HttprBench

NEAR, FAR = "near.example", "far.example"
INBOX = "inbox"
THERE = f"DIRECT=HTTPR://{FAR}/httpr/mq#{INBOX}"
BACK = f"DIRECT=HTTPR://{NEAR}/httpr/mq#{INBOX}"
AGENT = f"httpr://{FAR}/httpr/mq"
LADDER = (Duration(100 * MILLISECOND), Duration(1000 * MILLISECOND))
STEPS = 60
LIVELY = [Failure.LOST, Failure.TIMED_OUT, Failure.NOT_HTTPR]


class End(HttprBench):
    """One of the two queue managers."""

    def __init__(self, host: str, settings: HttprSettings) -> None:
        self.host = host
        super().__init__(INBOX, settings=settings, addressed=False, seed=len(host))
        self.flush()

    def start(self) -> Turn:
        """Start, and listen under its own name."""
        turn = super().start()
        self.handle(Addressed(f"httpr://{self.host}", frozenset({self.host})))
        self.flush()
        return turn


def carried(batch: tuple[Message, ...], host: str) -> tuple[Carried, ...]:
    """Return a batch on the wire."""
    return tuple(Carried(*encode_message(message, f"httpr://{host}/httpr/mq")) for message in batch)


class Conversation(RuleBasedStateMachine):
    """Random steps of two agents that exchange messages over a faulty network."""

    @initialize(
        sessions=st.booleans(),
        depth=st.integers(1, 3),
        most=st.integers(1, 3),
        flow=st.sampled_from(["push", "pull", "exchange"]),
    )
    def begin(self, sessions: bool, depth: int, most: int, flow: str) -> None:
        """Begin with two managers that have empty disks."""
        offered = Capabilities(
            maximum_batch_size=3, maximum_pipeline_depth=3, sessions=True, max_wait_batch=100,
            idle_session_interval=5,
        )  # fmt: skip
        proposed = Capabilities(
            maximum_batch_size=most, maximum_pipeline_depth=depth, sessions=sessions, idle_session_interval=5
        )
        fetches = flow != "push"
        peer = Peer(
            responder=AGENT, pull=fetches, exchange=flow == "exchange", sessions=sessions, channel="all"
        )
        ours = HttprSettings(proposed=proposed, peers=(peer,), retry_ladder=LADDER, forget_after=seconds(4))
        self.near = End(NEAR, ours)
        self.far = End(FAR, HttprSettings(offered=offered, retry_ladder=LADDER))
        self.fetches = fetches
        self.sent: dict[str, int] = {NEAR: 0, FAR: 0}
        """The number of messages that were sent to each side."""
        self.taken: dict[str, list[int]] = {NEAR: [], FAR: []}
        """What was received at each."""
        self.flying: deque[SendRequest] = deque()
        self.back: deque[tuple[SendRequest, Answer]] = deque()
        self.asked: dict[int, SendRequest] = {}
        """Requests that the server has not answered, by its callers."""
        self.old: list[tuple[SendRequest, int]] = []
        """Requests that were given up, each with the connection it was on."""
        self.connection, self.accepted = 0, 0
        self.epoch = 0
        self.forgotten = 0
        """How often the server forgot what the client had sent."""
        self.given_up_at: dict[int, int] = {}
        self._collect()

    # -- what leaves

    def _collect(self) -> None:
        """Effects leave, and answers: all is on disk."""
        for end in (self.near, self.far):
            end.flush()
        out, self.near.out = self.near.requests, []
        for request in out:
            if request.epoch != self.epoch:
                self._new_epoch(request.epoch)
            self.flying.append(request)
        if self.near.httpr.state.client.channels and not any(
            channel.connection.is_open for channel in self.near.httpr.state.client.channels.values()
        ):
            self._give_up()
        refused, self.far.out = self.far.requests, []
        for request in refused:
            self.far.fail(request, Failure.NO_CONNECTION)  # the client cannot be dialled
            self.far.out = []
        for caller, request in list(self.asked.items()):
            answer = self.far.answer_to(caller)
            if isinstance(answer, Answer):
                del self.asked[caller]
                self.back.append((request, answer))
        self.far.flush()
        self.forgotten = sum(
            isinstance(fact, SideForgotten) and fact.side is Side.SINK for fact in self.far.facts
        )

    def _first(self) -> SendRequest | None:
        """Return the first request whose response has not come."""
        waiting = [*(request for request, _ in self.back), *self.asked.values(), *self.flying]
        return min(waiting, key=lambda request: request.number, default=None)

    def _new_epoch(self, epoch: int) -> None:
        self._give_up()
        self.epoch = epoch
        self.connection = 0

    def _give_up(self) -> None:
        """Drop requests: the client gets no answers to them; they may still arrive, in their order."""
        for request in (*self.flying, *self.asked.values()):
            self.given_up_at[id(request)] = self.forgotten
            self.old.append((request, self.connection))
        self.flying.clear()
        self.back.clear()
        self.asked.clear()

    def _arrive(self, request: SendRequest, connection: int) -> int:
        caller = self.far.new_caller()
        ending = Disposition.LAST if request.header.command in SENDS else None
        batch = carried(request.batch, NEAR)
        self.far.handle(RequestArrived(caller, connection, "mq", request.header, batch, ending))
        return caller

    def _accept(self) -> int:
        self.accepted += 1
        return self.accepted

    # -- messages

    @rule(count=st.integers(1, 4))
    def send_there(self, count: int) -> None:
        """Send messages from the client's side to the server's."""
        self._send(self.near, THERE, FAR, count)

    @precondition(lambda self: self.fetches)
    @rule(count=st.integers(1, 4))
    def send_back(self, count: int) -> None:
        """Send messages to the client, which fetches them."""
        self._send(self.far, BACK, NEAR, count)

    def _send(self, end: End, queue: str, to: str, count: int) -> None:
        bodies = [b"%d" % (self.sent[to] + each + 1) for each in range(count)]
        end.send(queue, *bodies)
        self.sent[to] += count
        self._collect()

    @rule(near=st.booleans(), count=st.integers(1, 3))
    def receive(self, near: bool, count: int) -> None:
        """An application receives messages that have arrived."""
        end = self.near if near else self.far
        answer = end.receive(INBOX, count=count)
        self.taken[end.host] += [int(each.message.body) for each in getattr(answer, "messages", ())]
        self._collect()

    # -- the network

    @precondition(lambda self: self.flying)
    @rule(begun=st.booleans())
    def deliver_request(self, begun: bool) -> None:
        """Deliver the oldest request to the server."""
        request = self.flying.popleft()
        self.connection = self.connection or self._accept()
        if begun:
            self.far.handle(RequestBegun(self.connection, "mq", request.header))
        self.asked[self._arrive(request, self.connection)] = request
        self._collect()

    @precondition(lambda self: self.flying or self.asked or self.back)
    @rule(failure=st.sampled_from(LIVELY), noticed=st.booleans())
    def lose(self, failure: Failure, noticed: bool) -> None:
        """The connection breaks: requests and responses on it are lost, or come late."""
        first, connection = self._first(), self.connection
        assert first is not None, "nothing is on the way"
        self._give_up()
        self.near.fail(first, failure)
        if noticed and connection:
            self.far.handle(ConnectionGone(connection))
        self._collect()

    @precondition(lambda self: self.back)
    @rule()
    def deliver_response(self) -> None:
        """Deliver the oldest response to the client."""
        request, answer = self.back.popleft()
        self.near.respond(request, answer.header, *carried(answer.batch, FAR))
        self._collect()

    @precondition(lambda self: self.old)
    @rule(new=st.booleans())
    def deliver_late(self, new: bool) -> None:
        """Let a request arrive that the client gave up, on its own connection or on a new one."""
        request, connection = self.old.pop(0)
        header = request.header
        if not new and connection:
            self._arrive(request, connection)
        elif header.session_id or self._may_come_late(request):
            self._arrive(request, self._accept())
            self.connection = 0 if not self.asked else self.connection
        self._collect()

    def _may_come_late(self, request: SendRequest) -> bool:
        """Return whether the protocol can distinguish a late request from a new one, as in the simulator."""
        command = request.header.command
        fresh = self.given_up_at.get(id(request), 0) == self.forgotten
        return command is not Command.REPORT and (command not in SENDS or fresh)

    # -- crashes, time, administrators

    @rule(near=st.booleans())
    def crash(self, near: bool) -> None:
        """End a process at once, and start another one."""
        first = self._first()
        self._give_up()
        if near:
            self.near.restart(crash=True)
            self.epoch = 0
        else:
            self.far.restart(crash=True)
            self.connection = self.accepted = 0
            self.old = [(request, 0) for request, _ in self.old]
            if first is not None:
                self.near.fail(first, Failure.LOST)
        self._collect()

    @rule(near=st.booleans(), count=st.integers(1, 2))
    def crash_before_the_sync(self, near: bool, count: int) -> None:
        """Send a message, and end the process before an answer left."""
        if near or self.fetches:
            end, queue = (self.near, THERE) if near else (self.far, BACK)
            end.send(queue, *[b"999"] * count)
            end.out = []
            self.crash(near)

    @rule(span=st.sampled_from([0.05, 0.2, 1.0, 6.0]))
    def pass_time(self, span: float) -> None:
        """Advance both clocks, so that timers fire."""
        for end in (self.near, self.far):
            end.advance(span)
        self._collect()

    @rule(forget=st.booleans())
    def administer(self, forget: bool) -> None:
        """An administrator of the client reports or forgets."""
        for number, channel in list(self.near.httpr.state.channels.items()):
            if channel.role is Role.CLIENT:
                self.near.ask(ForgetChannel(0, number) if forget else ReportChannel(0, number))
        self._collect()

    # -- what holds

    def _came(self, end: End) -> list[int]:
        return self.taken[end.host] + [int(body) for body in end.bodies(INBOX)]

    @invariant()
    def all_that_came_came_once_and_in_order(self) -> None:
        """Check that all arrivals came once and in order, and that nothing came that was not sent."""
        if hasattr(self, "near"):
            for end in (self.near, self.far):
                came = self._came(end)
                assert came == list(range(1, len(came) + 1)), f"{end.host} has {came}"
                assert len(came) <= self.sent[end.host]

    def teardown(self) -> None:
        """Deliver without faults, and check that everything arrives and no batch is in doubt."""
        if not hasattr(self, "near"):
            return
        for _ in range(60 + sum(self.sent.values())):  # a second may bring no more than one message
            self._settle_down()
            if self._is_done():
                return
            self.pass_time(1.0)
        raise AssertionError(f"never done: {self._left()}")

    def _settle_down(self) -> None:
        for _ in range(200):
            if self.back:
                self.deliver_response()
            elif self.flying:
                self.deliver_request(begun=False)
            else:
                return

    def _left(self) -> dict[str, Any]:
        ends = (self.near, self.far)
        return {
            "came": {end.host: len(self._came(end)) - self.sent[end.host] for end in ends},
            "in doubt": [
                channel.in_doubt
                for end in ends
                for channel in end.httpr.state.channels.values()
                if channel.in_doubt
            ],
            "holds": [end.state.travel.reservations for end in ends if end.state.travel.reservations],
        }

    def _is_done(self) -> bool:
        left = self._left()
        return not left["in doubt"] and not left["holds"] and set(left["came"].values()) == {0}


def converse(examples: int, steps: int = STEPS) -> None:
    phases = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
    run_state_machine_as_test(
        Conversation,
        settings=settings(max_examples=examples, stateful_step_count=steps, phases=phases, deadline=None),
    )


@pytest.mark.spec("HR-020", "HR-022", "HR-024", "HR-050", "HR-052")
@pytest.mark.httpr("T06", "T08", "T09", "T10", "T14", "T17", "T18", "T31", "T43")
def test_messages_go_both_ways_once_and_in_order() -> None:
    converse(40)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_messages_go_both_ways_once_and_in_order_in_long_conversations() -> None:
    converse(1500, 120)

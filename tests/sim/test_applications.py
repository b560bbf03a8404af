"""Tests that scripts send requests, wait, pause and end."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, Duration
from reliquary.queueing.model.events import BrowseMessages, PurgeQueue, ReceiveMessages
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.applications import Application, Call, CallWithoutWaiting, Pause, Script, succeeded
from reliquary.sim.network import NOTHING, Outcome
from tests.sim.simulated_server import SimulatedServer
from tests.sim.written_history import delivered


class UsesEachStep(Application):
    """An application that uses each kind of step once."""

    outcomes: list[object]

    def script(self) -> Script:
        self.outcomes = []
        began = self.context.around.scheduler.now
        yield Pause(SECOND)
        assert self.context.around.scheduler.now == began + SECOND
        wait = Duration(2 * SECOND)
        yield CallWithoutWaiting(lambda to: ReceiveMessages(to, "orders", timeout=wait), self._hear)
        outcome: Outcome = yield Call(lambda to: PurgeQueue(to, "inbox"))
        self.outcomes.append(outcome.answer.status)
        yield from self.rest()

    def _hear(self, outcome: Outcome) -> None:
        self.outcomes.append(("aside", outcome.answer.status))


def test_a_script_is_resumed_with_what_came_of_each_step() -> None:
    server = SimulatedServer()
    tester = UsesEachStep("tester", server.context)
    server.play(tester)
    assert tester.outcomes == [HResult.OK]  # the aside still waits
    server.passes(3 * SECOND)
    assert tester.outcomes == [HResult.OK, ("aside", HResult.IO_TIMEOUT)]


class RepeatsUntilAnswered(Application):
    """Repeats a request until it is answered."""

    def script(self) -> Script:
        outcome = yield from self.ask_until_answered(lambda to: BrowseMessages(to, "orders"))
        assert succeeded(outcome)


def test_asking_until_answered_outlasts_network_faults() -> None:
    server = SimulatedServer()
    server.faults.answer_lost = 0.7
    server.play(RepeatsUntilAnswered("stubborn", server.context))


def test_an_answer_that_did_not_come_is_no_success() -> None:
    assert not succeeded(NOTHING)


def test_copies_of_a_message_have_no_owner() -> None:
    server = SimulatedServer(queues=False)
    application = Application("a", server.context)
    assert application.own(delivered(1, 2).messages) == [b"m1", b"m2"]
    assert application.own(delivered(1, reason=MessageClass.NACK_RECEIVE_REJECTED).messages) == [b"m1"]
    assert application.own(delivered(1, reason=MessageClass.ACK_RECEIVE).messages) == []
    server.witness.ledger.copies.add(2)
    assert application.own(delivered(1, 2).messages) == [b"m1"]

"""Tests that applications end transactions in every way, and draw the right conclusions."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import Answer
from reliquary.sim.history import SenderKnowledge, Sending
from reliquary.sim.network import NOTHING, Outcome
from reliquary.sim.readers import PlainReceiver
from reliquary.sim.senders import Producer
from reliquary.sim.site_faults import SiteFaults
from reliquary.sim.transactors import AROUND, Canceller, Coordinator, Transactor, Work
from tests.sim.simulated_server import SimulatedServer


def test_a_transactor_commits_prepares_and_aborts() -> None:
    server = SimulatedServer()
    server.rounds(Producer("producer", server.context), Transactor("transactor", server.context), turns=600)
    assert {"CommitTransaction", "PrepareTransaction", "AbortTransaction", "MoveMessage"} <= server.events()
    assert server.history.consumed
    own = [each for each in server.history.sendings.values() if each.sender == "transactor"]
    assert AROUND in {each.queue for each in own}
    assert {SenderKnowledge.CONFIRMED, SenderKnowledge.REFUSED} <= {each.standing for each in own}


def test_a_canceller_ends_what_it_still_waits_for() -> None:
    server = SimulatedServer()
    applications = [kind(kind.__name__, server.context) for kind in (Producer, Canceller, PlainReceiver)]
    server.rounds(*applications, turns=600)
    assert "CancelRead" in server.events()
    assert {"TRANSACTION_SEQUENCE", "OPERATION_CANCELLED"} <= server.statuses()


DONE = Outcome(Answer(HResult.OK), 7)
GONE = Outcome(Answer(HResult.TRANSACTION_SEQUENCE), 8)


def learned(outcome: Outcome, *, durable: bool = False, unanswered: int = 0) -> tuple[SenderKnowledge, bool]:
    """Return what an application concludes about a message it sent, and whether it has one it received."""
    server = SimulatedServer(queues=False)
    sending = Sending(b"s", "s", "t", 1, "orders", 3, express=False, request=1)
    work = Work(UUID(int=1), [b"r"], [sending], durable=durable)
    Transactor("t", server.context)._learn(work, outcome, unanswered)
    return sending.standing, b"r" in server.history.consumed


def test_an_answered_commit_settles_everything() -> None:
    assert learned(DONE) == (SenderKnowledge.CONFIRMED, True)


def test_a_transaction_that_is_gone_before_the_first_commit_was_aborted() -> None:
    assert learned(GONE) == (SenderKnowledge.REFUSED, False)


def test_a_transaction_that_is_gone_after_an_unanswered_commit_may_have_ended_either_way() -> None:
    assert learned(GONE, unanswered=1) == (SenderKnowledge.UNKNOWN, False)
    assert learned(NOTHING, unanswered=6) == (SenderKnowledge.UNKNOWN, False)


def test_a_prepared_transaction_that_is_gone_was_committed_because_it_is_never_forgotten() -> None:
    assert learned(GONE, durable=True, unanswered=1) == (SenderKnowledge.CONFIRMED, True)


def test_a_coordinator_sends_each_decision_until_it_is_confirmed_and_some_again() -> None:
    server = SimulatedServer(faults=SiteFaults(answer_lost=0.1))
    applications = [kind(kind.__name__, server.context) for kind in (Producer, Coordinator)]
    server.rounds(*applications, turns=800)
    decisions = server.history.decisions
    assert {(each.prepared, each.commit) for each in decisions} == {
        (True, True),
        (True, False),
        (False, False),
    }
    assert all((each.commit, HResult.OK) in each.answers for each in decisions if each.prepared)
    assert any(each.answers.count((True, HResult.OK)) > 1 for each in decisions)
    assert any((False, HResult.TRANSACTION_SEQUENCE) in each.answers for each in decisions if each.commit)
    assert not server.process.manager.state.transactions.open

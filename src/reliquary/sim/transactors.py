"""Simulates applications that use transactions, and records for the checkers what each answer proves.

no commit was requested       none of its messages may ever be seen
the commit was confirmed      all of its work is done
the commit had no answer      the application asks again; a transaction that was prepared for two phases is
                              kept until its outcome, so the answer "unknown transaction" proves the commit
a coordinator decided         the manager can do either; the coordinator keeps its decision and sends it until
                              it is confirmed, and sometimes once more
in doubt after a restore      the application had its answer and does not ask again: an administrator aborts
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from reliquary.base.chance import new_guid
from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.queueing.model.events import (
    AbortTransaction,
    BeginTransaction,
    BrowseMessages,
    CancelRead,
    CommitTransaction,
    MoveMessage,
    PrepareTransaction,
    ReceiveMessages,
)
from reliquary.sim.applications import (
    Application,
    ApplicationContext,
    Call,
    CallWithoutWaiting,
    Part,
    Script,
    answer_of,
    succeeded,
)
from reliquary.sim.history import Decision, SenderKnowledge, Sending
from reliquary.sim.network import NOTHING, Outcome
from reliquary.sim.senders import Sender

AROUND = "DIRECT=OS:loopback\\private$\\ledger"
"""The transactional queue, through an outgoing queue."""
TRIES = 6
"""The number of times that a commit is requested before its outcome is left open."""


@dataclass(slots=True)
class Work:
    """The work of one transaction, from the view of its owner."""

    transaction: UUID
    received: list[bytes] = field(default_factory=list)
    sent: list[Sending] = field(default_factory=list)
    """The messages that were accepted, without refused ones."""
    durable: bool = False
    """Whether it is prepared for two phases, so that it survives every crash."""
    committed: int = -1
    """The turn that confirmed the commit."""
    restores: int = 0
    """The number of restores before the transaction began: a later restore may undo it, or its end."""


class Transactor(Sender):
    """Receives, sends and moves messages in transactions."""

    def act(self) -> Script:
        """Run one transaction from its begin to its commit or abort."""
        work = yield from self._begin()
        if work is None:
            return
        yield from self._work(work)
        yield from self._end(work)

    def _work(self, work: Work) -> Script:
        for _ in range(self.chance.between(1, 4)):
            yield from self.chance.pick((self._receive, self._receive, self._send, self._move))(work)
        yield from self.rest()

    def _begin(self) -> Part[Work | None]:
        timeout = self.a_while(3000)
        outcome = yield Call(lambda to: BeginTransaction(to, timeout))
        self.note(outcome)
        restores = self.history.restores
        return Work(answer_of(outcome).transaction, restores=restores) if succeeded(outcome) else None

    def _receive(self, work: Work) -> Script:
        source, count = self.a_queue(), self.chance.between(1, 3)
        wait = Duration(0) if self.chance.happens(0.6) else self.a_while(100)
        outcome = yield Call(lambda to: ReceiveMessages(to, source, count, wait, work.transaction))
        self.note(outcome)
        if succeeded(outcome):
            work.received += self.own(answer_of(outcome).messages)

    def _send(self, work: Work) -> Script:
        target = AROUND if self.chance.happens(0.15) else self.a_queue()
        sent = yield from self.send(target, self.chance.between(1, 3), work.transaction)
        work.sent += [each for each in sent if each.standing is not SenderKnowledge.REFUSED]

    def _move(self, work: Work) -> Script:
        source, target = self.a_queue(), self.a_queue()
        outcome = yield Call(lambda to: BrowseMessages(to, source, limit=5))
        if succeeded(outcome) and answer_of(outcome).messages:
            chosen = self.chance.pick(answer_of(outcome).messages).position.lookup_id
            self.note((yield Call(lambda to: MoveMessage(to, source, chosen, target, work.transaction))))

    def _end(self, work: Work) -> Script:
        how = self.chance.pick(("commit", "commit", "prepare", "prepare", "abort", "forget"))
        if how == "prepare":
            yield from self._prepare(work)
            yield from self.rest()
            how = self.chance.pick(("commit", "commit", "abort"))
        if how == "commit":
            yield from self.commit(work)
            return
        self.history.settle(work.sent, SenderKnowledge.REFUSED)  # its commit was never requested
        if how == "abort" or work.durable:
            yield from self.ask_until_answered(lambda to: AbortTransaction(to, work.transaction))

    def _prepare(self, work: Work) -> Script:
        single_phase = self.chance.happens(0.3)
        outcome = yield Call(lambda to: PrepareTransaction(to, work.transaction, single_phase))
        self.note(outcome)
        work.durable = not single_phase and (outcome.answer is None or succeeded(outcome))
        if outcome.answer is None and work.durable:
            # It may be prepared or not; a second request settles it.
            again = yield from self.ask_until_answered(
                lambda to: PrepareTransaction(to, work.transaction, single_phase)
            )
            work.durable = succeeded(again)

    def commit(self, work: Work) -> Script:
        """Request the commit; without an answer repeat the request, up to `TRIES` times."""
        unanswered = 0
        while True:
            outcome = yield Call(lambda to: CommitTransaction(to, work.transaction))
            self.note(outcome)
            if outcome.answer is not None or (unanswered >= TRIES and not work.durable):
                break
            unanswered += 1
            yield from self.rest()
        self._learn(work, outcome, unanswered)

    def _learn(self, work: Work, outcome: Outcome, unanswered: int) -> None:
        gone = outcome.answer is not None and outcome.answer.status is HResult.TRANSACTION_SEQUENCE
        if gone and self.history.restores > work.restores:
            self.history.settle(work.sent, SenderKnowledge.UNKNOWN)
        elif succeeded(outcome) or (gone and work.durable and unanswered):
            work.committed = outcome.turn
            self.history.consume(work.received, outcome.turn)
            sure = [each for each in work.sent if each.standing is SenderKnowledge.OPEN]
            self.history.settle(sure, SenderKnowledge.CONFIRMED)
        elif gone and not unanswered:
            assert not work.durable, f"the prepared transaction {work.transaction} was forgotten"
            self.history.settle(work.sent, SenderKnowledge.REFUSED)
        else:
            self.history.settle(work.sent, SenderKnowledge.UNKNOWN)


class Resolver(Application):
    """Aborts the transactions that are in doubt after a restore, when all other applications have
    finished."""

    def script(self) -> Script:
        """Abort each transaction that is prepared."""
        process = self.context.host.process
        assert process is not None, "no process runs"
        prepared = [
            each.identifier for each in process.manager.state.transactions.open.values() if each.prepared
        ]
        for identifier in prepared:
            yield from self.ask_until_answered(lambda to: AbortTransaction(to, identifier))  # noqa: B023


class Canceller(Transactor):
    """Prepares, commits or cancels while one of its own reads still waits."""

    def act(self) -> Script:
        """Run a transaction with a read that still waits when it ends, or with a read that is cancelled."""
        if self.chance.happens(0.3):
            yield from self._cancel()
            return
        work = yield from self._begin()
        if work is None:
            return
        source, wait = self.a_queue(), self.a_while(1000)
        yield CallWithoutWaiting(
            lambda to: ReceiveMessages(to, source, 2, wait, work.transaction),
            lambda outcome: self._hear(work, outcome),
        )
        yield from self.rest()
        yield from self._prepare(work)
        yield from self.rest()
        yield from self.commit(work)

    def _hear(self, work: Work, outcome: Outcome) -> None:
        if succeeded(outcome):
            bodies = self.own(answer_of(outcome).messages)
            work.received += bodies
            if work.committed >= 0:
                self.history.consume(bodies, work.committed)

    def _cancel(self) -> Script:
        source, tag, wait = self.a_queue(), self.chance.between(1, 1 << 40), self.a_while(1000)
        yield CallWithoutWaiting(lambda to: ReceiveMessages(to, source, timeout=wait, tag=tag), self._take)
        yield from self.rest()
        self.note((yield Call(lambda to: CancelRead(to, source, tag))))

    def _take(self, outcome: Outcome) -> None:
        if succeeded(outcome):
            self.history.consume(self.own(answer_of(outcome).messages), outcome.turn)


class Coordinator(Transactor):
    """Chooses the ids of its transactions, decides their outcomes, and sends each until it is confirmed."""

    def __init__(self, name: str, context: ApplicationContext) -> None:
        super().__init__(name, context)
        self._unconfirmed: list[tuple[Work, Decision]] = []
        """The decisions that are not confirmed yet."""
        self._confirmed: list[tuple[Work, Decision]] = []

    def script(self) -> Script:
        """Run transactions until the run finishes; then send every decision without a confirmation.

        After a restore the confirmed decisions are sent again too.
        """
        yield from super().script()
        if self.history.restores:
            self._unconfirmed += self._confirmed
        while self._unconfirmed:
            yield from self._tell_outcome()
            yield from self.rest()

    def act(self) -> Script:
        """Run a new transaction up to its decision, or send an old decision."""
        if self._unconfirmed and self.chance.happens(0.5):
            yield from self._tell_outcome()
            return
        work = yield from self._begin()
        if work is not None:
            yield from self._work(work)
            yield from self._decide(work)

    def _begin(self) -> Part[Work | None]:
        """Begin a transaction; after a lost answer the retry names the transaction again."""
        identifier, timeout = new_guid(self.chance), self.a_while(3000)
        outcome = yield from self.ask_until_answered(
            lambda to: BeginTransaction(to, timeout, identifier, self.name)
        )
        assert succeeded(outcome), outcome
        return Work(identifier)

    def _decide(self, work: Work) -> Script:
        """Decide the outcome; commit only if the manager confirmed the prepare."""
        outcome = NOTHING
        if self.chance.happens(0.9):
            outcome = yield Call(lambda to: PrepareTransaction(to, work.transaction, single_phase=False))
            self.note(outcome)
            if outcome.answer is None and self.chance.happens(0.5):
                outcome = yield from self.ask_until_answered(
                    lambda to: PrepareTransaction(to, work.transaction, single_phase=False)
                )
        prepared = succeeded(outcome) and not self.history.is_forgotten(outcome.turn)
        decision = Decision(work.transaction, prepared and self.chance.happens(0.7), prepared)
        self.history.decisions.append(decision)
        if not decision.commit:
            self.history.settle(work.sent, SenderKnowledge.REFUSED)
        self._unconfirmed.append((work, decision))

    def _tell_outcome(self) -> Script:
        """Send the oldest unconfirmed decision; after its answer, sometimes try to change it."""
        work, decision = self._unconfirmed.pop(0)
        outcome = yield from self._ask(decision, commit=decision.commit)
        if outcome.answer is None:
            self._unconfirmed.append((work, decision))
            return
        self._confirmed.append((work, decision))
        if decision.commit and succeeded(outcome):
            self.history.consume(work.received, outcome.turn)
            sure = [each for each in work.sent if each.standing is SenderKnowledge.OPEN]
            self.history.settle(sure, SenderKnowledge.CONFIRMED)
        for commit in (decision.commit, not decision.commit):
            if self.chance.happens(0.3):
                yield from self.rest()
                yield from self._ask(decision, commit=commit)

    def _ask(self, decision: Decision, *, commit: bool) -> Part[Outcome]:
        make = CommitTransaction if commit else AbortTransaction
        outcome = yield Call(lambda to: make(to, decision.transaction))
        self.note(outcome)
        if outcome.answer is not None:
            decision.answers.append((commit, outcome.answer.status))
        return outcome

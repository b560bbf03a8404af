"""Watches the server: every turn, every answer that leaves, every crash.

It checks the promises at each step. `checkers` has the checks that are possible only at the end.
"""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import UUID

from reliquary.base.time import Instant
from reliquary.base.turn import Effect, Event, Machine, Reply, Turn
from reliquary.queueing.feed.events import FeedRead, FeedViews
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import Received, ReceiveMessages, Sent
from reliquary.queueing.model.message import Message, MessageClass, ObjectId
from reliquary.queueing.rules.expiry import is_over
from reliquary.sim.audit import audit, compare, contents
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History, Turned, Violation, named, shown
from reliquary.sim.ledger import Ledger
from reliquary.sim.mirror import available, compare_managers, compare_with_ledger, walk
from reliquary.sim.reasons import Reasons

REFUSALS: Final = frozenset(
    {
        MessageClass.NACK_BAD_DEST_QUEUE,
        MessageClass.NACK_QUEUE_EXCEED_QUOTA,
        MessageClass.NACK_ACCESS_DENIED,
        MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE,
        MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE,
    }
)
"""The reasons for which another manager refuses a message permanently."""


class Witness:
    """Watches one run: records what happens and checks the promises."""

    LEDGER: ClassVar[type[Ledger]] = Ledger

    def __init__(self, history: History) -> None:
        self._history = history
        self._reasons = self._make_reasons()
        self._answers: dict[tuple[int, int], tuple[int, int]] = {}
        """For each answer: its turn, and the batch that must be durable before it leaves."""
        self._identifiers: dict[ObjectId, bytes] = {}
        """The message of each Identifier that an answer has named."""
        self._given: set[int] = set()
        """LookupIdentifiers that senders got in answers."""
        self._latest = 0
        """The last batch with a durable change."""
        self.replaced: list[Ledger] = []
        """The ledgers of the stores that were replaced by backups, at that time."""
        self.era_began = 0
        """The first turn after the last restore; 0 without one."""
        self._lineages: set[UUID] = set()
        """The GUIDs in the identifiers of messages that were sent here ..."""
        self._older: frozenset[UUID] = frozenset()
        """... and of those that were sent here before the last restore."""
        self.ledger = self._make_ledger()

    def _make_reasons(self) -> Reasons:
        """Return the judge of the reasons why messages leave."""
        return Reasons(self._history)

    def _make_ledger(self) -> Ledger:
        """Return the ledger of all turns that no crash undid, for the next process."""
        ledger = self.LEDGER.of(self._history.turns, self._history.processes + 1)
        ledger.judge = self._reasons.judge
        return ledger

    def turned(self, process_number: int, batch: int, event: Event, turn: Turn, now: Instant) -> Turned:
        """Record that a turn was run; its changes will be applied with this batch."""
        history = self._history
        answers = tuple((effect.to, effect.answer) for effect in turn.effects if isinstance(effect, Reply))
        turned = Turned(len(history.turns), process_number, batch, event, turn.facts, answers, now)
        history.turns.append(turned)
        asker = getattr(event, "to", 0)
        if asker:
            history.requests[process_number, asker] = event
        self._reasons.observe(self.ledger, turned)
        self._check_refused(turned)
        self._check_lineages(turned)
        self.ledger.take(turned)
        if any(not fact.volatile for fact in turn.facts):
            self._latest = batch
        for to, answer in answers:
            self._note_answer(turned, to, answer)
        return turned

    def _check_refused(self, turned: Turned) -> None:
        """Check that a refused outgoing message is a dead letter, because its sender got an acceptance."""
        if any(isinstance(fact, facts.CopyLost) for fact in turned.facts):  # the queue for it is full
            return
        for fact in turned.facts:
            if isinstance(fact, facts.PositionsRemoved) and fact.reason in REFUSALS:
                for position in fact.positions:
                    place = self.ledger.places.get((fact.queue, position.lookup_id))
                    outgoing = self.ledger.queues[fact.queue].outgoing is not None
                    if place is not None and outgoing and self._is_own(place.body):
                        raise Violation(
                            f"loss: {shown(place.body)} was refused as {fact.reason.name} in turn"
                            f" {turned.number}, and is no dead letter"
                        )

    def _check_lineages(self, turned: Turned) -> None:
        """Check that messages sent here since a restore have identifiers that no message had before."""
        for fact in turned.facts:
            if isinstance(fact, facts.MessagesStored):
                for message in fact.messages:
                    name, lineage = named(message), message.identifier.lineage
                    if not self._is_own(name):
                        continue
                    self._lineages.add(lineage)
                    if lineage in self._older and name not in self.ledger.bodies.values():
                        raise Violation(
                            f"era: {shown(name)} is sent in turn {turned.number}, and its identifier is of"
                            f" the time before the store was restored"
                        )

    def _is_own(self, name: bytes) -> bool:
        """Return whether an application of this site has sent it."""
        return name in self._history.sendings

    def _note_answer(self, turned: Turned, to: int, answer: object) -> None:
        if not to:
            return
        if (turned.process_number, to) in self._answers:
            raise Violation(f"caller {to} is answered twice, the second time in turn {turned.number}")
        needs = turned.batch if any(not fact.volatile for fact in turned.facts) else 0
        if isinstance(answer, FeedViews | FeedRead):  # a mark covers all earlier messages
            needs = max(needs, self._latest)
        if isinstance(answer, Received):
            from_here = self._is_from_here(turned, to)
            for delivered in answer.messages:
                self._check_true(delivered.message)
                if from_here and not delivered.position.express:
                    needs = max(needs, self.ledger.changed[named(delivered.message)])
        needs = max(needs, self._shown(turned, to, answer))
        self._answers[turned.process_number, to] = (turned.number, needs)

    def _is_from_here(self, turned: Turned, to: int) -> bool:
        """Return whether an answer shows messages of queues of this manager."""
        del turned, to
        return True

    def _shown(self, turned: Turned, to: int, answer: object) -> int:
        """Return the batch that an answer of a protocol shows, in addition to that of its own turn."""
        del turned, to, answer
        return 0

    def _check_true(self, message: Message) -> None:
        if message.message_class != MessageClass.NORMAL:
            return
        sending = self._history.sendings.get(message.body)
        if sending is None or sending.label != message.label:
            raise Violation(
                f"a message is delivered that was never sent: {message.body!r}, {message.label!r}"
            )

    def answered(self, process_number: int, reply: Reply, disk: SimulatedDisk) -> int:
        """Record that an answer leaves; return the number of the turn that made it."""
        to = reply.to
        turn, needs = self._answers[process_number, to]
        if needs > disk.durable:
            raise Violation(
                f"visible too early: the answer of turn {turn} to caller {to} shows batch {needs}"
                f" when {disk.durable} are safe"
            )
        self._check_numbers(reply.answer)
        return turn

    def _check_numbers(self, answer: object) -> None:
        """Check that no number is assigned twice."""
        if isinstance(answer, Received):
            for delivered in answer.messages:
                message = delivered.message
                name = named(message)
                if self._identifiers.setdefault(message.identifier, name) != name:
                    other = self._identifiers[message.identifier]
                    raise Violation(f"{shown(name)} and {shown(other)} are both {message.identifier}")
        elif isinstance(answer, Sent):
            new = {lookup_id for lookup_id in answer.lookup_ids if lookup_id}
            if new & self._given:
                raise Violation(f"LookupIdentifiers were given out twice: {new & self._given}")
            self._given |= new

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Record that an effect of a protocol leaves the process."""

    def crashed(self, survivor: SimulatedDisk) -> None:
        """Record that the process has ended; `survivor` is the disk of the next one."""
        history = self._history
        for turned in reversed(history.turns):
            if turned.process_number != history.processes:
                break
            turned.lost = turned.batch > survivor.durable and any(not fact.volatile for fact in turned.facts)
        self._start_again(survivor)

    def _start_again(self, survivor: SimulatedDisk) -> None:
        """Build the ledger from the turns that were not lost, and compare it with the rows."""
        self._latest = 0
        self.ledger = self._make_ledger()
        rows = contents(survivor)
        audit(rows)
        compare(rows, self.ledger)

    def turns_on(self, disk: SimulatedDisk) -> frozenset[int]:
        """Return the numbers of the turns whose facts a crash cannot undo now."""
        process_number = self._history.processes
        return frozenset(
            turned.number
            for turned in self._history.turns
            if turned.kept and (turned.process_number != process_number or turned.batch <= disk.durable)
        )

    def restored(self, survivor: SimulatedDisk, kept: frozenset[int]) -> None:
        """Record that a backup with these turns replaced the store; `survivor` is the disk of the next
        process."""
        self.replaced.append(self.ledger)
        self.era_began = len(self._history.turns)
        self._older = frozenset(self._lineages)
        self._history.restore(kept)
        self._start_again(survivor)
        for decision in self._history.decisions:
            known = decision.transaction
            decision.prepared = known in self.ledger.prepared or known in self.ledger.outcomes
            decision.answers.clear()

    def batch_applied(self, manager: QueueManager, now: Instant) -> None:
        """Check that no read waits while a message is available for it."""
        for number, queue in manager.state.queues.items():
            readers = [
                waiter.request.to
                for waiter in queue.readers.waiting.values()
                if isinstance(waiter.request, ReceiveMessages) and not waiter.request.cursor
            ]
            if readers and len(queue.order):
                ready = [each for each in available(queue) if not is_over(each, now)]
                if ready:
                    body = manager.state.messages.get(ready[0]).body
                    raise Violation(
                        f"liveness: {readers} wait in queue {number}, where {shown(body)} is ready"
                    )

    def checkpoint(self, manager: QueueManager, rebuilt: QueueManager, disk: SimulatedDisk) -> None:
        """Check between two batches that rows, facts, the running manager and a rebuilt one agree."""
        self._history.checkpoints += 1
        rows = contents(disk)
        audit(rows)
        compare(rows, self.ledger)
        walked = walk(manager.state)
        compare_managers(manager, walked, rebuilt)
        compare_with_ledger(manager, walked, self.ledger)

    def compare_machines(self, protocol: str, live: Machine, rebuilt: Machine) -> None:
        """Check between two batches that a protocol's machine agrees with one rebuilt from the rows."""
